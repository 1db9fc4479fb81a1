import {
  type Endpoint,
  type NodeTopology,
  type ServicePort,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from '../model/index.ts';
import { chooseEndpoints, isReady, isServingTerminating } from './choose-endpoints.ts';
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
  | 'on another node';

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

export function explainEndpoints(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  node: NodeTopology,
): readonly EndpointExplanation[] {
  const chosen = chooseEndpoints(endpoints, port, node);
  const topology = topologyMode(endpoints.filter(isReady), node);
  const filtered = topology === 'same-node' ? 'hinted for other nodes' : 'hinted for other zones';
  const cluster = new Set(chosen.cluster);
  const local = new Set(chosen.local);
  return endpoints.map(endpoint => ({
    endpoint,
    cluster: usesClusterEndpoints(port) ? decide(endpoint, cluster.has(endpoint), filtered) : undefined,
    local: usesLocalEndpoints(port) ? decide(endpoint, local.has(endpoint), 'on another node') : undefined,
  }));
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
  const ready = endpoints.filter(isReady);
  const some = (hints: 'nodeHints' | 'zoneHints') => ready.some(endpoint => endpoint[hints] !== undefined);
  const all = (hints: 'nodeHints' | 'zoneHints') => ready.every(endpoint => endpoint[hints] !== undefined);
  if (!usesClusterEndpoints(port) || !(some('nodeHints') || some('zoneHints'))) return undefined;
  const mode = topologyMode(ready, node);
  if (mode === 'same-node') return `hints: endpoints for node ${node.name} only`;
  if (mode === 'same-zone') return `hints: endpoints for zone ${node.zone} only`;
  if (!all('nodeHints') && !all('zoneHints')) return 'hints ignored: some ready endpoints have none';
  if (!all('zoneHints')) return `hints ignored: none is for node ${node.name}`;
  if (node.zone === '') return `hints ignored: node ${node.name} has no zone label`;
  return `hints ignored: none is for zone ${node.zone}`;
}
