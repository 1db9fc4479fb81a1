import { sameMap } from '../lib/same-map.ts';
import { hashText } from '../lib/stable-hash.ts';
import {
  ALGORITHMS,
  type Algorithm,
  type Endpoint,
  type HashInput,
  type NodeTopology,
  type ServicePort,
} from '../model/index.ts';
import { type ChosenEndpoints, reachableEndpoints } from './choose-endpoints.ts';
import { maglevSlots } from './maglev.ts';
import { weightedSlots } from './weighted-slots.ts';

/** How connections are spread over the endpoints of a service port. */
export interface Balance {
  /** Undefined: as the mode does without a choice. */
  readonly algorithm: Algorithm | undefined;
  /** What the Service asks for although the mode cannot do it. */
  readonly unavailable: Algorithm | undefined;
  readonly hashBy: HashInput;
  /** By text of the endpoint. Undefined if all weigh the same. */
  readonly weights: ReadonlyMap<string, number> | undefined;
  /**
   * An endpoint gets only a part of its weight, because it is new. Otherwise, with least connections, a mode that counts
   * connections itself does not need `weights`.
   */
  readonly isInSlowStart: boolean;
  /** Each slot has the same chance, or the same number of hashes. An endpoint may have several slots, or none. */
  readonly slots: Pick<ChosenEndpoints, 'cluster' | 'local'>;
}

export interface BalanceOptions {
  /** The algorithm of Services that choose none. Undefined, or one that the mode does not have: as the mode always does. */
  readonly defaultAlgorithm?: Algorithm | undefined;
  /** What the mode can do. The default is everything. */
  readonly algorithms?: readonly Algorithm[] | undefined;
  readonly node: Pick<NodeTopology, 'name'>;
}

/** What the proxy learns about endpoints while it runs. */
export interface LiveEndpoints {
  /** True if there is nothing to know about any service port, which is usual. Saves making ids. */
  readonly isEmpty?: boolean | undefined;
  /** `id`: the id of the plan. Returns undefined if there is nothing to know, which is usual. */
  of(id: string): LivePort | undefined;
}

/** What the proxy learned about the endpoints of one service port. */
export interface LivePort {
  /** The part of its weight that an endpoint gets now, from 0 to 1. */
  share(endpoint: Endpoint): number;
  /** Slow start gives the endpoint only a part of its weight. */
  isInSlowStart(endpoint: Endpoint): boolean;
  /** New connections to the endpoint failed again and again, so it is left out. */
  isEjected(endpoint: Endpoint): boolean;
}

/** Undefined for the usual case: all endpoints weigh the same, and the mode chooses as it always does. */
export function planBalance(
  { options }: ServicePort,
  chosen: ChosenEndpoints,
  { defaultAlgorithm, algorithms = ALGORITHMS, node }: BalanceOptions,
  live: LivePort | undefined,
): Balance | undefined {
  // The proxy says once, at its start, that the mode does not have the default.
  const usual = defaultAlgorithm && algorithms.includes(defaultAlgorithm) ? defaultAlgorithm : undefined;
  const wanted = options.algorithm ?? usual;
  if (wanted === undefined && live === undefined) return undefined;
  const isAvailable = wanted === undefined || algorithms.includes(wanted);
  const algorithm = isAvailable ? wanted : undefined;
  const reachable = reachableEndpoints(chosen);
  const weights = unequalWeights(reachable, endpoint => {
    const configured = algorithm === 'weighted' ? configuredWeight(options, endpoint) : 1;
    return configured * (live?.share(endpoint) ?? 1);
  });
  if (wanted === undefined && weights === undefined) return undefined;
  const slotsFor = (endpoints: readonly Endpoint[]) =>
    turned(slots(endpoints, algorithm, weights), algorithm, node.name);
  return {
    algorithm,
    unavailable: isAvailable ? undefined : wanted,
    hashBy: options.hashBy,
    weights,
    isInSlowStart: live !== undefined && reachable.some(endpoint => live.isInSlowStart(endpoint)),
    slots: { cluster: slotsFor(chosen.cluster), local: slotsFor(chosen.local) },
  };
}

/** By text of the endpoint. Undefined if all weigh the same. */
function unequalWeights(
  endpoints: readonly Endpoint[],
  weigh: (endpoint: Endpoint) => number,
): ReadonlyMap<string, number> | undefined {
  const weights = new Map(endpoints.map(endpoint => [endpoint.text, weigh(endpoint)]));
  return new Set(weights.values()).size < 2 ? undefined : weights;
}

/** The weight by address comes before the weight of the slice. Zones multiply it. */
export function configuredWeight(
  { weights, zoneWeights }: ServicePort['options'],
  { ip, zone, weight }: Endpoint,
): number {
  return (weights?.get(ip) ?? weight ?? 1) * ((zone === undefined ? undefined : zoneWeights?.get(zone)) ?? 1);
}

function slots(
  endpoints: readonly Endpoint[],
  algorithm: Algorithm | undefined,
  weights: ReadonlyMap<string, number> | undefined,
): readonly Endpoint[] {
  const weightOf = ({ text }: Endpoint) => weights?.get(text) ?? 1;
  // If no endpoint has a weight, all are used: a Service with endpoints must not go without.
  const usable = endpoints.filter(endpoint => weightOf(endpoint) > 0);
  if (usable.length === 0) return endpoints;
  if (algorithm === 'consistent-hash') return maglevSlots(usable, weightOf);
  return weights === undefined ? endpoints : weightedSlots(usable, weightOf);
}

/**
 * Turns begin at the first slot whenever the number of slots changes. So the endpoint that comes first depends on that
 * number and on the node. Otherwise one endpoint would get the first connections of all nodes and after each change.
 */
function turned(list: readonly Endpoint[], algorithm: Algorithm | undefined, nodeName: string): readonly Endpoint[] {
  const takesTurns = algorithm === 'round-robin' || algorithm === 'least-connections';
  if (!takesTurns || list.length < 2) return list;
  const first = hashText(`${nodeName} ${list[0]?.text} ${list.length}`, 0) % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

/** For plans with the same endpoints: their slots follow from what this compares. */
export function sameBalance(a: Balance | undefined, b: Balance | undefined): boolean {
  if (a === b) return true;
  if (!a || !b) return false;
  return (
    a.algorithm === b.algorithm &&
    a.unavailable === b.unavailable &&
    a.hashBy === b.hashBy &&
    a.isInSlowStart === b.isInSlowStart &&
    sameMap(a.weights, b.weights)
  );
}
