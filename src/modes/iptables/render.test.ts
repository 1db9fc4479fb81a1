import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { detectorOf, plansOf, rulesFor } from '../../../test/support/iptables-plans.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { fullText, fullTextParts } from './render.ts';
import { chainOfRule, RestoreText } from './rules/restore-text.ts';

const text = (name: string) => readFileSync(`test/restore-texts/${name}.txt`, 'utf8');
const real = { mark: '0x00004000', machine: { randomFully: true } };
const port = (name: string, number: number) => [{ name, protocol: 'TCP' as const, port: number }];

test('IPT-1 the restore of a Service with a cluster IP is the expected text', () => {
  const podRange = '10.244.0.0/16';
  const plans = plansOf(
    {
      services: [service('web', { clusterIP: '10.96.10.20', ports: [{ name: 'http' }] })],
      slices: [slice('web-1', ['10.244.1.1', '10.244.1.10', '10.244.2.7'], { ports: port('http', 8080) })],
    },
    { podRange },
  );
  const options = rulesFor('IPv4', { ...real, localDetector: detectorOf(podRange) });
  assert.equal(`${fullText(plans, options, true)}`, text('cluster-ip'));
});

const edge = service('prod/edge', {
  type: 'LoadBalancer',
  clusterIP: '10.96.77.1',
  ports: [{ name: 'https', port: 443, nodePort: 31443 }],
  ingress: [{ ip: '203.0.113.10', ipMode: 'VIP' }],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 32123,
  loadBalancerSourceRanges: ['192.0.2.0/24', '10.20.0.0/16'],
});
const edgeNode = { podRange: '10.244.0.0/16', nodeIP: '10.20.0.5' };
const edgeOptions = rulesFor('IPv4', { ...real, localDetector: detectorOf('10.244.0.0/16') });
const remote = { ip: '10.244.2.16', nodeName: 'node-b' };

test('IPT-1 the restore of a load balancer with policy Local and source ranges is the expected text', () => {
  const endpoints = [{ ip: '10.244.1.15', nodeName: 'node-a' }, remote];
  const slices = [slice('prod/edge-1', endpoints, { ports: port('https', 8443) })];
  assert.equal(
    `${fullText(plansOf({ services: [edge], slices }, edgeNode), edgeOptions, true)}`,
    text('load-balancer-local'),
  );
});

test('IPT-1 a load balancer with policy Local and no local endpoint drops traffic that is not short-circuited', () => {
  const slices = [slice('prod/edge-1', [remote], { ports: port('https', 8443) })];
  const full = fullText(plansOf({ services: [edge], slices }, edgeNode), edgeOptions, true);
  assert.deepEqual(full.table('filter').rules.slice(1, -3), [
    '-A KUBE-PROXY-FIREWALL -m comment --comment "prod/edge:https traffic not accepted by KUBE-FW-DP2MXYD5GNOSPYYK" -m tcp -p tcp -d 203.0.113.10 --dport 443 -j DROP',
    '-A KUBE-EXTERNAL-SERVICES -m comment --comment "prod/edge:https has no local endpoints" -m tcp -p tcp -d 203.0.113.10 --dport 443 -j DROP',
    '-A KUBE-EXTERNAL-SERVICES -m comment --comment "prod/edge:https has no local endpoints" -m addrtype --dst-type LOCAL -m tcp -p tcp --dport 31443 -j DROP',
    '-A KUBE-NODEPORTS -m comment --comment "prod/edge:https health check node port" -m tcp -p tcp --dport 32123 -j ACCEPT',
  ]);
  const nat = full.table('nat');
  assert.ok(!nat.chains.some(chain => chain.startsWith('KUBE-SVL-')));
  assert.ok(!nat.rules.some(rule => rule.includes('statistic') || / -j KUBE-SVL-/.test(rule)));
});

test('IPT-1 a load balancer without endpoints rejects traffic, but accepts health checks', () => {
  const full = fullText(plansOf({ services: [edge] }, edgeNode), edgeOptions, true);
  assert.deepEqual(full.table('filter').rules.slice(1, -3), [
    '-A KUBE-SERVICES -m comment --comment "prod/edge:https has no endpoints" -m tcp -p tcp -d 10.96.77.1 --dport 443 -j REJECT',
    '-A KUBE-EXTERNAL-SERVICES -m comment --comment "prod/edge:https has no endpoints" -m tcp -p tcp -d 203.0.113.10 --dport 443 -j REJECT',
    '-A KUBE-EXTERNAL-SERVICES -m comment --comment "prod/edge:https has no endpoints" -m addrtype --dst-type LOCAL -m tcp -p tcp --dport 31443 -j REJECT',
    '-A KUBE-NODEPORTS -m comment --comment "prod/edge:https health check node port" -m tcp -p tcp --dport 32123 -j ACCEPT',
  ]);
  assert.deepEqual(full.table('nat').chains, ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ']);
});

test('IPT-1 the restore of a node port with affinity in IPv6 is the expected text', () => {
  const podRange = 'fd00:10:244::/56';
  const cart = service('shop/cart', {
    type: 'NodePort',
    clusterIP: 'FD00:96:0:0::C0DE',
    ports: [{ port: 8080, nodePort: 30090 }],
    sessionAffinity: 'ClientIP',
    sessionAffinityTimeoutSeconds: 3600,
  });
  const slices = [
    slice('shop/cart-1', [{ ip: 'fd00:10:244:1::a', nodeName: 'node-a' }, 'fd00:10:244:2::b'], {
      ports: port('', 9090),
    }),
  ];
  const plans = plansOf({ services: [cart], slices }, { family: 'IPv6', podRange, nodeIP: 'fd00::1' });
  const options = rulesFor('IPv6', { ...real, localDetector: detectorOf(podRange) });
  assert.equal(`${fullText(plans, options, true)}`, text('affinity-ipv6'));
});

type Spec = Parameters<typeof service>[1];

const many = (services: number, endpoints: number, spec: (i: number) => Spec = () => ({})) => {
  const numbers = Array.from({ length: services }, (_, i) => i);
  return plansOf({
    services: numbers.map(i => service(`s${i}`, { clusterIP: `10.0.${i}.1`, ...spec(i) })),
    slices: numbers.map(i =>
      slice(
        `s${i}-1`,
        Array.from({ length: endpoints }, (_, j) => `10.1.${i}.${j + 1}`),
      ),
    ),
  });
};
const plain = (): Spec => ({});
const balanced = (i: number): Spec => ({
  type: 'LoadBalancer',
  externalIPs: [`1.2.${i}.4`],
  ports: [{ nodePort: 30000 + i }],
  ingress: [{ ip: `1.2.${i}.4` }],
  loadBalancerSourceRanges: [' 1.2.3.4/28'],
  healthCheckNodePort: 30001,
});

/** The number of Services, the endpoints of each, their kind, and the rules that they have in filter and in nat. */
const COUNTS: readonly (readonly [number, number, (i: number) => Spec, number, number])[] = [
  [0, 0, plain, 4, 5],
  [1, 0, plain, 5, 5],
  [1, 1, plain, 4, 10],
  [1, 2, plain, 4, 13],
  [1, 10, plain, 4, 37],
  [10, 0, plain, 14, 5],
  [10, 1, plain, 4, 55],
  [10, 2, plain, 4, 85],
  [10, 10, plain, 4, 325],
  [0, 0, balanced, 4, 5],
  [1, 0, balanced, 8, 5],
  [1, 1, balanced, 5, 18],
  [1, 2, balanced, 5, 21],
  [1, 10, balanced, 5, 45],
  [10, 0, balanced, 44, 5],
  [10, 1, balanced, 14, 135],
  [10, 2, balanced, 14, 165],
  [10, 10, balanced, 14, 405],
];

for (const [services, endpoints, spec, filter, nat] of COUNTS) {
  const kind = spec === balanced ? 'LoadBalancer' : 'ClusterIP';
  test(`IPT-1 ${services} ${kind} Services with ${endpoints} endpoints have ${filter} rules in filter and ${nat} in nat`, () => {
    const full = fullText(many(services, endpoints, spec), rulesFor(), true);
    assert.deepEqual([full.table('filter').rules.length, full.table('nat').rules.length], [filter, nat]);
  });
}

test('IPT-1 rules jump only to chains that are declared and have rules, and to every declared chain', () => {
  const services = [
    service('a', { clusterIP: '10.0.0.1', ...balanced(0), externalTrafficPolicy: 'Local' }),
    service('b', { clusterIP: '10.0.0.2', internalTrafficPolicy: 'Local', sessionAffinity: 'ClientIP' }),
    service('c', { clusterIP: '10.0.0.3' }),
  ];
  const slices = ['a', 'b', 'c'].map((name, i) =>
    slice(`${name}-1`, [{ ip: `10.1.0.${i}`, nodeName: 'node-a' }, `10.1.1.${i}`]),
  );
  const nat = fullText(plansOf({ services, slices }), rulesFor(), true).table('nat');
  const jumped = new Set(nat.rules.flatMap(rule => / -j (KUBE-\S+)$/.exec(rule)?.[1] ?? []));
  const filled = new Set(nat.rules.map(chainOfRule));
  const entries = ['KUBE-SERVICES', 'KUBE-POSTROUTING'];
  assert.deepEqual(
    [...jumped].filter(chain => !nat.chains.includes(chain) || !filled.has(chain)),
    [],
  );
  assert.deepEqual(
    nat.chains.filter(chain => !jumped.has(chain) && !entries.includes(chain)),
    [],
  );
  assert.equal(new Set(nat.chains).size, nat.chains.length);
});

test('IPT-4 in large clusters only the rules of endpoints have no comments', () => {
  const rules = fullText(many(1, 2, balanced), rulesFor(), false).table('nat').rules;
  const endpointRules = rules.filter(rule => /^-A KUBE-SEP-| -j KUBE-SEP-/.test(rule));
  assert.equal(endpointRules.length, 6);
  assert.deepEqual(
    endpointRules.filter(rule => rule.includes('comment')),
    [],
  );
  assert.ok(
    rules.filter(rule => /^-A KUBE-(EXT|FW|SERVICES|NODEPORTS)/.test(rule)).some(rule => rule.includes('comment')),
  );
});

test('IPT-9 the parts of a large restore together have all rules, and jump only to chains that exist already', () => {
  const plans = many(100, 30);
  const whole = fullText(plans, rulesFor(), true);
  const parts = [...fullTextParts(plans, rulesFor(), true)];
  assert.ok(parts.length > 2, `${parts.length} parts`);
  for (const table of ['filter', 'nat'] as const) {
    const lines = (texts: readonly RestoreText[]) => texts.flatMap(text => [...text.table(table)]).sort();
    const joined = new RestoreText();
    for (const { text: part } of parts) {
      joined.table(table).addChains(part.table(table).chains);
      joined.table(table).addRules(part.table(table).rules);
    }
    assert.deepEqual(lines([joined]), lines([whole]));
  }
  const last = parts.at(-1);
  assert.deepEqual(last?.text.table('nat').chains, ['KUBE-SERVICES', 'KUBE-NODEPORTS']);
  assert.equal(last?.done, 100);
  const declared = new Set<string>();
  for (const { text: part } of parts) {
    for (const chain of part.table('nat').chains) declared.add(chain);
    const targets = part.table('nat').rules.flatMap(rule => / -j (KUBE-\S+)$/.exec(rule)?.[1] ?? []);
    assert.deepEqual(
      targets.filter(chain => !declared.has(chain)),
      [],
      'a part jumps only to chains that exist',
    );
  }
});

const T =
  '-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"';

test('IPT-6 only packets to the configured addresses reach the chain of node ports', () => {
  const tail = (...options: Parameters<typeof rulesFor>) =>
    fullText([], rulesFor(...options), true)
      .table('nat')
      .rules.slice(4);
  const some = (family: 'IPv4' | 'IPv6', ips: readonly string[], localhostNodePorts = false) => ({
    nodePortAddresses: parseNodePortAddresses(family, family === 'IPv4' ? ['192.168.0.0/24'] : ['fd00::/64']),
    nodePortIPs: ips as readonly Ip[],
    machine: { localhostNodePorts },
  });
  assert.deepEqual(tail('IPv4'), [`${T} -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`]);
  assert.deepEqual(tail('IPv4', { machine: { localhostNodePorts: false } }), [
    `${T} -m addrtype --dst-type LOCAL ! -d 127.0.0.0/8 -j KUBE-NODEPORTS`,
  ]);
  assert.deepEqual(tail('IPv6'), [`${T} -m addrtype --dst-type LOCAL ! -d ::1/128 -j KUBE-NODEPORTS`]);
  assert.deepEqual(tail('IPv4', some('IPv4', ['192.168.0.2', '192.168.0.3'])), [
    `${T} -d 192.168.0.2 -j KUBE-NODEPORTS`,
    `${T} -d 192.168.0.3 -j KUBE-NODEPORTS`,
  ]);
  assert.deepEqual(tail('IPv4', some('IPv4', [])), []);
});

test('IPT-7 a rule drops INVALID packets unless the kernel is liberal, and counts them if there is a counter', () => {
  const rules = (machine: object) => fullText([], rulesFor('IPv4', { machine }), true).table('filter').rules.slice(1);
  const after = [
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT',
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
  ];
  const counted = ' -m nfacct --nfacct-name ct_state_invalid_dropped_pkts';
  assert.deepEqual(rules({}), [`-A KUBE-FORWARD -m conntrack --ctstate INVALID${counted} -j DROP`, ...after]);
  assert.deepEqual(rules({ counters: new Set() }), [
    '-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP',
    ...after,
  ]);
  assert.deepEqual(rules({ tcpLiberal: true }), after);
});

test('IPT-1 masquerading uses --random-fully if the programs support it', () => {
  const rule = (randomFully: boolean) =>
    fullText([], rulesFor('IPv4', { machine: { randomFully } }), true).table('nat').rules[2];
  const start = '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE';
  assert.deepEqual([rule(false), rule(true)], [start, `${start} --random-fully`]);
});

test('IPT-19 TCP connections of node processes keep their source port with the flag, and all others get random ports', () => {
  const machine = { randomFully: true, keepsNodeSourcePorts: true };
  const { rules } = fullText([], rulesFor('IPv6', { machine }), true).table('nat');
  assert.deepEqual(rules.slice(0, 4), [
    '-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN',
    '-A KUBE-POSTROUTING -j MARK --xor-mark 0x4000',
    '-A KUBE-POSTROUTING -p tcp -m addrtype --src-type LOCAL -m comment --comment "keep source ports of node processes" -j MASQUERADE',
    '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
  ]);
});

test('IPT-1 rules and names of chains contain canonical addresses', () => {
  const services = [
    service('ns1/svc1', {
      clusterIP: '172.30.0.041',
      ports: [{ name: 'p80' }],
      type: 'LoadBalancer',
      externalIPs: ['192.168.099.022'],
      ingress: [{ ip: '1.2.3.04' }],
      loadBalancerSourceRanges: ['203.0.113.000/025'],
    }),
  ];
  const slices = [slice('ns1/svc1-1', ['10.180.00.001'], { ports: port('p80', 80) })];
  const { rules } = fullText(plansOf({ services, slices }), rulesFor(), true).table('nat');
  assert.ok(rules.some(rule => rule.includes(' -d 172.30.0.41 ')));
  assert.ok(rules.some(rule => rule.includes(' -d 192.168.99.22 ')));
  assert.ok(rules.some(rule => rule.includes(' -s 203.0.113.0/25 ')));
  assert.ok(
    rules.includes('-A KUBE-SEP-SXIVWICOYRO3J4NJ -m comment --comment ns1/svc1:p80 -s 10.180.0.1 -j KUBE-MARK-MASQ'),
  );
});

test('IPT-1 an ingress with ipMode Proxy has no rule, and an ingress without a mode has one', () => {
  const rules = (ipMode: string | undefined) => {
    const ingress = [{ ip: '1.2.3.4', ...(ipMode !== undefined && { ipMode }) }];
    const plans = plansOf({
      services: [service('a', { type: 'LoadBalancer', ingress })],
      slices: [slice('a-1', ['10.1.1.1'])],
    });
    return fullText(plans, rulesFor(), true)
      .table('nat')
      .rules.filter(rule => rule.includes('loadbalancer IP'));
  };
  assert.deepEqual([rules('Proxy').length, rules('VIP').length, rules(undefined).length], [0, 1, 1]);
});

test('IPT-1 rules can detect the traffic of pods by its interface', () => {
  const spec = { type: 'NodePort', ports: [{ nodePort: 30000 }], externalTrafficPolicy: 'Local' };
  const objects = { services: [service('a', spec)], slices: [slice('a-1', ['10.1.1.1'])] };
  for (const [localDetector, match] of [
    [{ kind: 'interface', name: 'cni0' }, '-i cni0'],
    [{ kind: 'interface-prefix', prefix: 'veth' }, '-i veth+'],
  ] as const) {
    const { rules } = fullText(
      plansOf(objects, { overrides: { localDetector } }),
      rulesFor('IPv4', { localDetector }),
      true,
    ).table('nat');
    assert.ok(rules.some(rule => rule.endsWith(` ! ${match} -j KUBE-MARK-MASQ`)));
    assert.ok(rules.some(rule => rule.includes(` external destinations" ${match} -j KUBE-SVC-`)));
  }
});

test('IPT-1 without a local detector only masqueradeAll masquerades traffic to cluster IPs', () => {
  const objects = { services: [service('a')], slices: [slice('a-1', ['10.1.1.1'])] };
  const masquerading = (overrides: object) =>
    fullText(plansOf(objects, { overrides }), rulesFor('IPv4', { localDetector: undefined }), true)
      .table('nat')
      .rules.filter(rule => rule.includes('cluster IP"') && rule.endsWith('KUBE-MARK-MASQ'));
  assert.deepEqual(masquerading({ localDetector: undefined }), []);
  const [all] = masquerading({ localDetector: undefined, masqueradeAll: true });
  assert.match(all ?? '', /--dport 80 -j KUBE-MARK-MASQ$/);
});
