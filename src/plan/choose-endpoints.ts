import { compareTexts } from '../lib/compare-texts.ts';
import { NONE } from '../lib/none.ts';
import {
  type Endpoint,
  type NodeTopology,
  type ServicePort,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from '../model/index.ts';
import type { LivePort } from './balance.ts';
import { isAvailable, topologyMode } from './topology.ts';

/** The endpoints that a service port uses on this node. All lists keep the order by text. */
export interface ChosenEndpoints {
  /** For traffic with policy Cluster. Empty if no traffic of the port has it. */
  readonly cluster: readonly Endpoint[];
  /** For traffic with policy Local. Empty if no traffic of the port has it. */
  readonly local: readonly Endpoint[];
  /** Some endpoint on any node could serve. It decides between drop and reject if there is no endpoint here. */
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
  const ready = filterEndpoints(endpoints, isReady);
  const cluster = usesCluster ? chooseCluster(endpoints, ready, node) : NONE;
  const local = usesLocal ? chooseLocal(endpoints, ready) : NONE;
  const hasEndpoints = cluster.length > 0 || (usesLocal && endpoints.some(isUsable));
  return { cluster, local, hasEndpoints };
}

export function isReady(endpoint: Endpoint): boolean {
  return endpoint.ready;
}

/** A terminating endpoint that still serves. It is used if no endpoint is ready. */
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
  if (ready.length === 0) return filterEndpoints(endpoints, isServingTerminating);
  const topology = topologyMode(ready, node);
  return topology === 'any' ? ready : filterEndpoints(ready, endpoint => isAvailable(endpoint, topology, node));
}

/** Topology hints have no effect on policy Local. */
function chooseLocal(endpoints: readonly Endpoint[], ready: readonly Endpoint[]): readonly Endpoint[] {
  const localReady = filterEndpoints(ready, endpoint => endpoint.isLocal);
  if (localReady.length > 0) return localReady;
  return filterEndpoints(endpoints, endpoint => endpoint.isLocal && isServingTerminating(endpoint));
}

/** At least half of the endpoints of a list stay. */
export function withoutEjected(chosen: ChosenEndpoints, live: LivePort | undefined): ChosenEndpoints {
  if (!live) return chosen;
  const keep = (endpoints: readonly Endpoint[]) => {
    const kept = filterEndpoints(endpoints, endpoint => !live.isEjected(endpoint));
    return kept.length * 2 >= endpoints.length ? kept : endpoints;
  };
  const [cluster, local] = [keep(chosen.cluster), keep(chosen.local)];
  return cluster === chosen.cluster && local === chosen.local ? chosen : { ...chosen, cluster, local };
}

/** The endpoints of both lists, each once. */
export function reachableEndpoints({ cluster, local }: ChosenEndpoints): readonly Endpoint[] {
  if (local.length === 0) return cluster;
  if (cluster.length === 0) return local;
  const inCluster = new Set(cluster);
  const extra = local.filter(endpoint => !inCluster.has(endpoint));
  if (extra.length === 0) return cluster;
  return [...cluster, ...extra].sort((a, b) => compareTexts(a.text, b.text));
}

/** Filters a list. Returns the list itself if it keeps all endpoints, so that the usual case takes no memory. */
export function filterEndpoints(
  endpoints: readonly Endpoint[],
  isWanted: (endpoint: Endpoint) => boolean,
): readonly Endpoint[] {
  if (endpoints.every(isWanted)) return endpoints;
  const kept = endpoints.filter(isWanted);
  return kept.length === 0 ? NONE : kept;
}
