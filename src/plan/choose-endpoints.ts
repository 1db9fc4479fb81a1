import {
  type Endpoint,
  NONE,
  type NodeTopology,
  type ServicePort,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from '../model/index.ts';
import { isAvailable, topologyMode } from './topology.ts';

/** The endpoints that a Service port uses on this node. All lists keep the order by text. */
export interface ChosenEndpoints {
  /** For traffic with policy Cluster. Empty if no traffic of the port has it. */
  readonly cluster: readonly Endpoint[];
  /** For traffic with policy Local. Empty if no traffic of the port has it. */
  readonly local: readonly Endpoint[];
  /** Some endpoint, anywhere, could serve: the difference between dropping and rejecting. */
  readonly hasEndpoints: boolean;
}

const NO_ENDPOINTS: ChosenEndpoints = { cluster: NONE, local: NONE, hasEndpoints: false };

export function chooseEndpoints(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  node: NodeTopology,
): ChosenEndpoints {
  if (endpoints.length === 0) return NO_ENDPOINTS;
  const usesCluster = usesClusterEndpoints(port);
  const usesLocal = usesLocalEndpoints(port);
  const ready = keep(endpoints, isReady);
  const cluster = usesCluster ? chooseCluster(endpoints, ready, node) : NONE;
  const local = usesLocal ? chooseLocal(endpoints, ready) : NONE;
  const hasEndpoints = cluster.length > 0 || (usesLocal && endpoints.some(isUsable));
  return { cluster, local, hasEndpoints };
}

export function isReady(endpoint: Endpoint): boolean {
  return endpoint.ready;
}

/** On its way out but still answering: used when nothing is ready. */
export function isServingTerminating(endpoint: Endpoint): boolean {
  return endpoint.serving && endpoint.terminating;
}

function isUsable(endpoint: Endpoint): boolean {
  return isReady(endpoint) || isServingTerminating(endpoint);
}

function chooseCluster(
  endpoints: readonly Endpoint[],
  ready: readonly Endpoint[],
  node: NodeTopology,
): readonly Endpoint[] {
  if (ready.length === 0) return keep(endpoints, isServingTerminating);
  const topology = topologyMode(ready, node);
  return topology === 'any' ? ready : keep(ready, endpoint => isAvailable(endpoint, topology, node));
}

/** Hints play no part here. */
function chooseLocal(endpoints: readonly Endpoint[], ready: readonly Endpoint[]): readonly Endpoint[] {
  const localReady = keep(ready, endpoint => endpoint.isLocal);
  if (localReady.length > 0) return localReady;
  return keep(endpoints, endpoint => endpoint.isLocal && isServingTerminating(endpoint));
}

/** Both lists together, each endpoint once. */
export function reachableEndpoints({ cluster, local }: ChosenEndpoints): readonly Endpoint[] {
  if (local.length === 0) return cluster;
  if (cluster.length === 0) return local;
  const inCluster = new Set(cluster);
  const extra = local.filter(endpoint => !inCluster.has(endpoint));
  if (extra.length === 0) return cluster;
  return [...cluster, ...extra].sort((a, b) => (a.text < b.text ? -1 : 1));
}

/** A filter that returns the list itself when everything is kept, so that the usual case costs no memory. */
export function keep(endpoints: readonly Endpoint[], wanted: (endpoint: Endpoint) => boolean): readonly Endpoint[] {
  if (endpoints.every(wanted)) return endpoints;
  const kept = endpoints.filter(wanted);
  return kept.length === 0 ? NONE : kept;
}
