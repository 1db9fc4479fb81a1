import {
  type Endpoint,
  type NodeTopology,
  type ServicePort,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from '../model/index.ts';
import { type ChosenEndpoints, chooseEndpoints, isReady, isServingTerminating } from './choose-endpoints.ts';
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
  | 'failed connections';

export interface Decision {
  readonly used: boolean;
  readonly reason: Reason;
}

export interface EndpointExplanation {
  readonly endpoint: Endpoint;
  /** For traffic with policy Cluster. Undefined if the port has no such traffic. */
  readonly cluster: Decision | undefined;
  /** For traffic with policy Local. Undefined if the port has no such traffic. */
  readonly local: Decision | undefined;
}

/** `planned` is what the plan uses. The plan lacks endpoints that are left out because connections failed. */
export function explainEndpoints(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  node: NodeTopology,
  planned?: ChosenEndpoints,
): readonly EndpointExplanation[] {
  const chosen = chooseEndpoints(endpoints, port, node);
  const topology = topologyMode(endpoints.filter(isReady), node);
  const filtered = topology === 'same-node' ? 'hinted for other nodes' : 'hinted for other zones';
  const cluster = new Set(chosen.cluster);
  const local = new Set(chosen.local);
  const plannedCluster = planned && new Set(planned.cluster.map(({ text }) => text));
  const plannedLocal = planned && new Set(planned.local.map(({ text }) => text));
  return endpoints.map(endpoint => ({
    endpoint,
    cluster: usesClusterEndpoints(port) ? decide(endpoint, cluster.has(endpoint), filtered, plannedCluster) : undefined,
    local: usesLocalEndpoints(port)
      ? decide(endpoint, local.has(endpoint), 'on another node', plannedLocal)
      : undefined,
  }));
}

function decide(
  endpoint: Endpoint,
  used: boolean,
  otherwise: Reason,
  planned: ReadonlySet<string> | undefined,
): Decision {
  if (used && planned && !planned.has(endpoint.text)) return { used: false, reason: 'failed connections' };
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
