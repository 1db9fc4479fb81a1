import type { Protocol } from '../../api/index.ts';
import { type Element, L4 } from '../../kernel/ipset/index.ts';
import { type Cidr, type Family, familyOf, type Ip, isLinkLocal, isLoopback, parseIp } from '../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../plan/index.ts';
import type { ModeSettings } from '../mode.ts';
import type { SetKey } from './names.ts';
import type { SchedulerContext } from './wanted/scheduler.ts';
import { type VirtualServer, virtualServer } from './wanted/virtual-server.ts';

/** What the plans of one family are rendered with. */
export interface RenderContext extends SchedulerContext {
  readonly family: Family;
  /** The addresses of node ports. */
  readonly nodePortIPs: readonly Ip[];
  /** The addresses of this machine's other links. kube-ipvs0 does not get these addresses. */
  readonly nodeIPs: ReadonlySet<Ip>;
}

export interface ContextInput {
  readonly family: Family;
  readonly scheduler: string;
  readonly missingSchedulers?: ReadonlySet<string> | undefined;
  readonly settings: Pick<ModeSettings, 'nodePortAddresses' | 'nodePortIPs'>;
  /** All addresses of this machine's other links. */
  readonly nodeIPs: readonly Ip[];
}

const NO_SCHEDULERS: ReadonlySet<string> = new Set();

export function renderContext(input: ContextInput): RenderContext {
  const { family, scheduler, missingSchedulers = NO_SCHEDULERS, settings } = input;
  const own = new Set(input.nodeIPs.filter(ip => familyOf(ip) === family && !isLoopback(ip) && !isLinkLocal(ip)));
  const nodePortIPs = settings.nodePortAddresses.matchAll
    ? [...own].sort()
    : settings.nodePortIPs.filter(ip => !isLoopback(ip));
  return { family, scheduler, missingSchedulers, nodePortIPs, nodeIPs: own };
}

/** The address of a load balancer whose source ranges exclude this node. Answers to the node are dropped. */
export interface Drop {
  readonly ip: Ip;
  readonly protocol: Protocol;
  readonly port: number;
}

export interface SetElement {
  readonly set: SetKey;
  readonly element: Element;
}

/** Everything that the kernel has of one service port. */
export interface Rendered {
  readonly servers: readonly VirtualServer[];
  readonly elements: readonly SetElement[];
  readonly drops: readonly Drop[];
}

export function render(context: RenderContext, plan: ServicePortPlan): Rendered {
  const into: Building = { servers: [], elements: [], drops: [] };
  const { protocol, healthCheckNodePort } = plan.port;
  for (const { ip, port } of plan.onNode) {
    into.elements.push(at('loopBack', { kind: 'hash:ip,port,ip', ip, protocol: L4[protocol], port, ip2: ip }));
  }
  for (const frontend of plan.frontends) {
    if (frontend.ip === undefined) renderNodePort(context, plan, frontend, into);
    else renderAddress(context, plan, frontend, frontend.ip, into);
  }
  if (healthCheckNodePort > 0) {
    into.elements.push(at('healthCheckNodePort', { kind: 'bitmap:port', port: healthCheckNodePort }));
  }
  return into;
}

interface Building extends Rendered {
  readonly servers: VirtualServer[];
  readonly elements: SetElement[];
  readonly drops: Drop[];
}

function at(set: SetKey, element: Element): SetElement {
  return { set, element };
}

function renderAddress(
  context: RenderContext,
  plan: ServicePortPlan,
  frontend: Frontend,
  ip: Ip,
  { servers, elements, drops }: Building,
): void {
  const { protocol } = plan.port;
  const element = { kind: 'hash:ip,port', ip, protocol: L4[protocol], port: frontend.port } as const;
  servers.push(virtualServer(context, plan, frontend, ip));
  for (const set of setsOf(frontend, protocol)) elements.push(at(set, element));
  if (frontend.kind === 'ClusterIP' || !context.nodeIPs.has(ip)) {
    elements.push(at('ipvsIPs', { kind: 'hash:ip', ip }));
  }
  if (!frontend.firewall) return;
  for (const net of frontend.firewall.sourceRanges.flatMap(halves)) {
    elements.push(at('loadBalancerSourceCIDR', { ...element, kind: 'hash:ip,port,net', net }));
  }
  if (frontend.firewall.includesNode) {
    elements.push(at('loadBalancerSourceIP', { ...element, kind: 'hash:ip,port,ip', ip2: ip }));
  } else {
    drops.push({ ip, protocol, port: frontend.port });
  }
}

function setsOf({ kind, policy, firewall }: Frontend, protocol: Protocol): readonly SetKey[] {
  switch (kind) {
    case 'ClusterIP':
      return ['clusterIP'];
    case 'ExternalIP':
      return [policy === 'Local' ? 'externalIPLocal' : 'externalIP'];
    case 'LoadBalancerIP':
      return [
        'loadBalancer',
        ...(policy === 'Local' ? (['loadBalancerLocal'] as const) : []),
        ...(firewall ? (['loadBalancerFirewall'] as const) : []),
      ];
    case 'NodePort':
      return policy === 'Local' ? [`nodePort${protocol}`, `nodePortLocal${protocol}`] : [`nodePort${protocol}`];
  }
}

function renderNodePort(
  context: RenderContext,
  plan: ServicePortPlan,
  frontend: Frontend,
  { servers, elements }: Building,
): void {
  const { protocol } = plan.port;
  const { port } = frontend;
  const sets = setsOf(frontend, protocol);
  for (const ip of context.nodePortIPs) {
    servers.push(virtualServer(context, plan, frontend, ip));
    if (protocol !== 'SCTP') continue;
    for (const set of sets) elements.push(at(set, { kind: 'hash:ip,port', ip, protocol: L4.SCTP, port }));
  }
  if (protocol === 'SCTP' || context.nodePortIPs.length === 0) return;
  for (const set of sets) elements.push(at(set, { kind: 'bitmap:port', port }));
}

/** ipset accepts no network with prefix length 0, so a network of all addresses becomes two halves. */
function halves(cidr: Cidr): readonly Cidr[] {
  if (cidr.prefix > 0) return [cidr];
  const upper = parseIp(cidr.address.includes(':') ? '8000::' : '128.0.0.0');
  return upper
    ? [
        { ...cidr, prefix: 1 },
        { address: upper, prefix: 1 },
      ]
    : [];
}
