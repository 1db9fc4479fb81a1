import { createHash } from 'node:crypto';
import type { Service } from '../../src/api/index.ts';
import { makeService, makeSlices, POD_RANGE, SERVICE_RANGE, type Size } from './cluster.ts';

// The layout of the real kube-proxy as scripts for nft: a chain and an anonymous map for every Service.

const T = 'ip kube-proxy';
const FRONTEND = 'ipv4_addr . inet_proto . inet_service';

export function* loadScript({ services, endpoints }: Size): Generator<string> {
  yield FIXED;
  for (let i = 0; i < services; i++) {
    const service = makeService(i);
    const { clusterIP } = service.spec;
    const chain = chainOf(service);
    const all = makeSlices(i, endpoints).flatMap(slice => slice.endpoints);
    const local = all.filter(({ nodeName }) => nodeName === 'node-1').map(({ addresses }) => addresses[0]);
    yield [
      ...local.map(ip => `add element ${T} hairpin-connections { ${ip} . ${ip} . tcp . 8080 }`),
      `add chain ${T} ${chain}`,
      `flush chain ${T} ${chain}`,
      `add element ${T} cluster-ips { ${clusterIP} }`,
      `add element ${T} service-ips { ${clusterIP} . tcp . 80 : goto ${chain} }`,
      dnatRule(
        chain,
        all.map(({ addresses }) => addresses[0] ?? ''),
      ),
      '',
    ].join('\n');
  }
}

/** Adds one endpoint to Service number `i`. */
export function gainScript(i: number, endpoints: number): string {
  const chain = chainOf(makeService(i));
  const all = makeSlices(i, endpoints).flatMap(slice => slice.endpoints.map(({ addresses }) => addresses[0] ?? ''));
  return [`add chain ${T} ${chain}`, `flush chain ${T} ${chain}`, dnatRule(chain, [...all, '10.200.0.1']), ''].join(
    '\n',
  );
}

function dnatRule(chain: string, ips: readonly string[]): string {
  const slots = ips.map((ip, slot) => `${slot} : ${ip} . 8080`).join(' , ');
  return `add rule ${T} ${chain} meta l4proto tcp dnat ip addr . port to numgen random mod ${ips.length} map { ${slots} }`;
}

/** A name of the same length as in kube-proxy. */
function chainOf({ metadata }: Service): string {
  const text = `${metadata.namespace}/${metadata.name}/tcp/http`;
  return `service-${createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase()}-${text}`;
}

const baseChain = (name: string, type: string, hook: string, priority: number) =>
  `add chain ${T} ${name} { type ${type} hook ${hook} priority ${priority} ; }`;
const map = (name: string, key: string) => `add map ${T} ${name} { type ${key} : verdict ; }`;
const chain = (name: string) => `add chain ${T} ${name}`;
const rule = (text: string) => `add rule ${T} ${text}`;

const FIXED = [
  `add table ${T}`,
  baseChain('filter-prerouting-pre-dnat', 'filter', 'prerouting', -110),
  baseChain('filter-output-pre-dnat', 'filter', 'output', -110),
  baseChain('filter-input', 'filter', 'input', 0),
  baseChain('filter-forward', 'filter', 'forward', 0),
  baseChain('filter-output', 'filter', 'output', 0),
  baseChain('nat-prerouting', 'nat', 'prerouting', -100),
  baseChain('nat-output', 'nat', 'output', -100),
  baseChain('nat-postrouting', 'nat', 'postrouting', 100),
  ...['nodeport-endpoints-check', 'service-endpoints-check', 'firewall-check', 'services', 'masquerading'].map(chain),
  ...['cluster-ips-check', 'reject-chain'].map(chain),
  `add set ${T} hairpin-connections { type ipv4_addr . ipv4_addr . inet_proto . inet_service ; }`,
  `add set ${T} cluster-ips { type ipv4_addr ; }`,
  ...['no-endpoint-services', 'firewall-ips', 'service-ips'].map(name => map(name, FRONTEND)),
  ...['no-endpoint-nodeports', 'service-nodeports'].map(name => map(name, 'inet_proto . inet_service')),
  ...[
    'filter-input ct state new jump nodeport-endpoints-check',
    'filter-input ct state new jump service-endpoints-check',
    'filter-forward ct state new jump service-endpoints-check',
    'filter-forward ct state new jump cluster-ips-check',
    'filter-output ct state new jump service-endpoints-check',
    'filter-output ct state new jump cluster-ips-check',
    'filter-prerouting-pre-dnat ct state new jump firewall-check',
    'filter-output-pre-dnat ct state new jump firewall-check',
    'nat-output jump services',
    'nat-prerouting jump services',
    'nat-postrouting jump masquerading',
    'masquerading mark and 0x4000 != 0 mark set mark xor 0x4000 masquerade fully-random',
    'masquerading ct status dnat ip saddr . ip daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random',
    'cluster-ips-check ip daddr @cluster-ips reject',
    `cluster-ips-check ip daddr { ${SERVICE_RANGE} } drop`,
    'reject-chain reject',
    'service-endpoints-check ip daddr . meta l4proto . th dport vmap @no-endpoint-services',
    'nodeport-endpoints-check ip daddr != 127.0.0.0/8 meta l4proto . th dport vmap @no-endpoint-nodeports',
    'firewall-check ip daddr . meta l4proto . th dport vmap @firewall-ips',
    `services ip daddr @cluster-ips ip saddr != ${POD_RANGE} mark set mark or 0x4000`,
    'services ip daddr . meta l4proto . th dport vmap @service-ips',
    'services fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport vmap @service-nodeports',
  ].map(rule),
  '',
].join('\n');
