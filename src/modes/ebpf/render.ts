import { sameList } from '../../lib/same-list.ts';
import type { Algorithm } from '../../model/index.ts';
import { type Family, familyOf, type Ip, isLinkLocal, isLoopback } from '../../net/index.ts';
import { type Frontend, planId, type ServicePortPlan, slotsOf } from '../../plan/index.ts';
import type { ModeSettings } from '../mode.ts';
import { MAX_COMPARED } from './programs/index.ts';

/** The endpoints that a target of a service port leads to. A service port has at most two pools. */
export type PoolName = 'cluster' | 'local';

/** What one service port is in the maps. It has only what a socket can decide; the network serves the rest. */
export interface SocketPort {
  /** The id of the plan. */
  readonly id: string;
  /** `namespace/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly portName: string;
  readonly targets: readonly SocketTarget[];
  /** The pools that targets name. */
  readonly pools: readonly SocketPool[];
  /** 0: no session affinity. */
  readonly affinitySeconds: number;
  readonly isLeastConnections: boolean;
}

export interface SocketPool {
  readonly name: PoolName;
  /** By slot, at least one. An endpoint with a larger weight has more slots. */
  readonly endpoints: readonly SocketEndpoint[];
}

export interface SocketTarget {
  /** Undefined for a node port, which every address has that accepts node ports. */
  readonly ip: Ip | undefined;
  readonly port: number;
  /**
   * `refuse`: no endpoint can serve. `leave`: the network serves it, and the node has the address. Without the target a
   * program would look for a node port there, which another Service may have.
   */
  readonly to: PoolName | 'refuse' | 'leave';
  /** Only for processes of the node itself. */
  readonly isNodeOnly: boolean;
}

export interface SocketEndpoint {
  readonly ip: Ip;
  readonly port: number;
}

/** What rendering needs to know besides the plan. */
export interface RenderOptions {
  readonly masqueradeAll: boolean;
  /** The kernel can make `connect` fail with ECONNREFUSED. */
  readonly canRefuse: boolean;
  /** All addresses of this node. */
  readonly nodeIPs: ReadonlySet<Ip>;
}

/** Where a node address accepts node ports: everywhere, or only for processes of the node itself. */
export type NodeAddressKind = 'any' | 'loopback';

/**
 * Rules must choose: turns count the packets of other machines too, and a socket has no address to hash before it is
 * connected.
 */
const LEFT_ALGORITHMS: readonly Algorithm[] = ['round-robin', 'consistent-hash'];

/** Undefined if the network serves every frontend of the service port. A caller that has the id saves memory. */
export function render(plan: ServicePortPlan, options: RenderOptions, id = planId(plan)): SocketPort | undefined {
  const { service, port, frontends } = plan;
  if (port.protocol !== 'TCP') return undefined;
  const targets: SocketTarget[] = [];
  const pools: SocketPool[] = [];
  for (const frontend of frontends) {
    const target = targetOf(frontend, plan, options) ?? leftTarget(frontend, options);
    if (!target) continue;
    const { to } = target;
    targets.push(target);
    if (to === 'refuse' || to === 'leave' || pools.some(({ name }) => name === to)) continue;
    pools.push({ name: to, endpoints: socketSlots(plan, to) });
  }
  if (targets.length === 0) return undefined;
  const { affinitySeconds, name: portName } = port;
  const isLeastConnections = plan.balance?.algorithm === 'least-connections';
  return { id, service, portName, targets, pools, affinitySeconds, isLeastConnections };
}

/**
 * With least connections, the slots of the plan correct what packets cannot count. Programs count connections
 * themselves, and endpoints that they compare with each other need one slot each. In slow start, slots are shares.
 */
function socketSlots(plan: ServicePortPlan, pool: PoolName): readonly SocketEndpoint[] {
  const { balance, endpoints } = plan;
  const isCorrection = balance?.algorithm === 'least-connections' && !balance.isInSlowStart;
  return isCorrection && endpoints[pool].length <= MAX_COMPARED ? endpoints[pool] : slotsOf(plan)[pool];
}

/** Whether programs look at all endpoints of the pool for the one with fewest connections. Otherwise at two of them. */
export function comparesAll({ isLeastConnections }: SocketPort, pool: Pick<SocketPool, 'endpoints'>): boolean {
  const { endpoints } = pool;
  return isLeastConnections && endpoints.length <= MAX_COMPARED && poolMembers(pool).length === endpoints.length;
}

function targetOf(
  frontend: Frontend,
  { endpoints, balance }: ServicePortPlan,
  options: RenderOptions,
): SocketTarget | undefined {
  const { masqueradeAll, canRefuse, nodeIPs } = options;
  const { kind, ip, port, firewall, shortCircuit } = frontend;
  // Only packets have the source address that source ranges are about.
  if (firewall) return undefined;
  // A process of the node listens at such an address, for example a DNS cache.
  if (kind === 'ClusterIP' && ip !== undefined && nodeIPs.has(ip)) return undefined;
  const to = destinationOf(frontend);
  // Without endpoints a socket cannot choose. The network does what it does then.
  if (to === undefined || (to === 'refuse' ? !canRefuse : endpoints[to].length === 0)) return undefined;
  if (to !== 'refuse' && balance?.algorithm && LEFT_ALGORITHMS.includes(balance.algorithm)) return undefined;
  // A pod's connection must be masqueraded then, and a socket cannot do that.
  const isNodeOnly = to !== 'refuse' && (masqueradeAll || shortCircuit === 'node');
  return { ip, port, to, isNodeOnly };
}

function leftTarget({ ip, port }: Frontend, { nodeIPs }: RenderOptions): SocketTarget | undefined {
  return ip !== undefined && nodeIPs.has(ip) ? { ip, port, to: 'leave', isNodeOnly: false } : undefined;
}

/** Undefined if connections are dropped: the network stays silent. */
function destinationOf({ action, policy, shortCircuit }: Frontend): PoolName | 'refuse' | undefined {
  if (shortCircuit !== 'none') return 'cluster';
  switch (action) {
    case 'forward':
      return policy === 'Local' ? 'local' : 'cluster';
    case 'reject':
      return 'refuse';
    case 'drop':
      return undefined;
  }
}

/** The addresses of the node that accept node ports. `nodeIPs` are all addresses of the node. */
export function nodeAddresses(
  family: Family,
  { nodePortAddresses, nodePortIPs }: Pick<ModeSettings, 'nodePortAddresses' | 'nodePortIPs'>,
  nodeIPs: ReadonlySet<Ip>,
): ReadonlyMap<Ip, NodeAddressKind> {
  const addresses = new Map<Ip, NodeAddressKind>();
  for (const ip of nodePortAddresses.matchAll ? nodeIPs : nodePortIPs) {
    // Every pod's link has a link-local address, and it means nothing without the link.
    if (familyOf(ip) !== family || isLinkLocal(ip)) continue;
    if (!isLoopback(ip)) addresses.set(ip, 'any');
    else if (nodePortAddresses.containsExplicitLoopback) addresses.set(ip, 'loopback');
  }
  return addresses;
}

/** The endpoints of a pool, each once. */
export function poolMembers({ endpoints }: Pick<SocketPool, 'endpoints'>): readonly SocketEndpoint[] {
  // The slots of an endpoint are one object, so the usual case compares no addresses.
  const members = new Set(endpoints);
  return members.size === endpoints.length ? endpoints : [...members];
}

export function sameEndpoints(a: readonly SocketEndpoint[], b: readonly SocketEndpoint[]): boolean {
  return sameList(a, b, (one, other) => one === other || (one.ip === other.ip && one.port === other.port));
}
