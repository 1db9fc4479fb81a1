import {
  type Endpoint,
  type NodeTopology,
  type ServicePort,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from '../model/index.ts';
import { slotShares } from './balance-report.ts';
import { chooseEndpoints, isReady, isServingTerminating } from './choose-endpoints.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import { topologyMode } from './topology.ts';

/** Why an endpoint is in a list, or why it is not. */
export type Reason =
  | 'ready'
  | 'terminating, but none is ready'
  | 'not ready'
  | 'terminating'
  | 'no longer serving'
  | 'hinted for other nodes'
  | 'hinted for other zones'
  | 'on another node'
  | 'its connections failed'
  | 'weight 0';

export interface Decision {
  readonly used: boolean;
  readonly reason: Reason;
  /** The part of the slots that it has, from 0 to 1. Absent without a balance. */
  readonly share?: number;
}

export interface EndpointExplanation {
  readonly endpoint: Endpoint;
  /** For traffic with policy Cluster. Undefined if the port has no such traffic. */
  readonly cluster: Decision | undefined;
  /** For traffic with policy Local. Undefined if the port has no such traffic. */
  readonly local: Decision | undefined;
}

/** `plan` adds what depends on the balance: without it, all endpoints count the same. */
export function explainEndpoints(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  node: NodeTopology,
  plan?: Pick<ServicePortPlan, 'endpoints' | 'balance'>,
): readonly EndpointExplanation[] {
  const chosen = chooseEndpoints(endpoints, port, node);
  const topology = topologyMode(endpoints.filter(isReady), node);
  const filtered = topology === 'same-node' ? 'hinted for other nodes' : 'hinted for other zones';
  const cluster = new Set(chosen.cluster);
  const local = new Set(chosen.local);
  const planned = plan && { cluster: balanced(plan, 'cluster'), local: balanced(plan, 'local') };
  return endpoints.map(endpoint => ({
    endpoint,
    cluster: usesClusterEndpoints(port)
      ? withBalance(decide(endpoint, cluster.has(endpoint), filtered), endpoint, planned?.cluster)
      : undefined,
    local: usesLocalEndpoints(port)
      ? withBalance(decide(endpoint, local.has(endpoint), 'on another node'), endpoint, planned?.local)
      : undefined,
  }));
}

/** What the balance of a plan says about one of its lists. */
interface BalancedList {
  readonly used: ReadonlySet<string>;
  /** Undefined without a balance, and if the shares follow the open connections. */
  readonly shares: ReadonlyMap<string, number> | undefined;
}

function balanced(
  { endpoints, balance }: Pick<ServicePortPlan, 'endpoints' | 'balance'>,
  list: 'cluster' | 'local',
): BalancedList {
  return {
    used: new Set(endpoints[list].map(({ text }) => text)),
    shares: balance && balance.algorithm !== 'least-connections' ? slotShares(balance.slots[list]) : undefined,
  };
}

function withBalance(decision: Decision, { text }: Endpoint, list: BalancedList | undefined): Decision {
  if (!decision.used || !list) return decision;
  if (!list.used.has(text)) return { used: false, reason: 'its connections failed' };
  if (!list.shares) return decision;
  const share = list.shares.get(text);
  return share === undefined ? { used: false, reason: 'weight 0' } : { ...decision, share };
}

function decide(endpoint: Endpoint, used: boolean, otherwise: Reason): Decision {
  if (used) return { used, reason: isReady(endpoint) ? 'ready' : 'terminating, but none is ready' };
  if (isReady(endpoint)) return { used, reason: otherwise };
  if (isServingTerminating(endpoint))
    return { used, reason: otherwise === 'on another node' && !endpoint.isLocal ? otherwise : 'terminating' };
  return { used, reason: endpoint.terminating ? 'no longer serving' : 'not ready' };
}

/** A sentence about the effect of hints on this node. Undefined if there are no hints. */
export function explainTopology(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  node: NodeTopology,
): string | undefined {
  if (!isHinted(endpoints, port)) return undefined;
  const mode = topologyMode(endpoints.filter(isReady), node);
  if (mode === 'same-node') return `hints: endpoints for node ${node.name} only`;
  if (mode === 'same-zone') return `hints: endpoints for zone ${node.zone} only`;
  return `hints ignored: ${ignoredHints(endpoints, port, node)?.reason}`;
}

export interface IgnoredHints {
  readonly reason: string;
  /** Some ready endpoints have no hints. */
  readonly isIncomplete: boolean;
}

/** Why this node ignores hints. Undefined if there are none, or if it uses them. */
export function ignoredHints(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  node: NodeTopology,
): IgnoredHints | undefined {
  if (!isHinted(endpoints, port)) return undefined;
  const ready = endpoints.filter(isReady);
  if (topologyMode(ready, node) !== 'any') return undefined;
  const all = (hints: 'nodeHints' | 'zoneHints') => ready.every(endpoint => endpoint[hints] !== undefined);
  if (!all('nodeHints') && !all('zoneHints')) return { reason: 'some ready endpoints have none', isIncomplete: true };
  if (!all('zoneHints')) return { reason: `none is for node ${node.name}`, isIncomplete: false };
  if (node.zone === '') return { reason: `node ${node.name} has no zone label`, isIncomplete: false };
  return { reason: `none is for zone ${node.zone}`, isIncomplete: false };
}

/** A ready endpoint has a hint, and the port has traffic for which hints count. */
function isHinted(endpoints: readonly Endpoint[], port: ServicePort): boolean {
  const hasHint = (endpoint: Endpoint) => endpoint.nodeHints !== undefined || endpoint.zoneHints !== undefined;
  return usesClusterEndpoints(port) && endpoints.some(endpoint => isReady(endpoint) && hasHint(endpoint));
}
