import {
  constant,
  dnatToMap,
  type Expression,
  goto,
  host32,
  ipDaddr,
  markOr,
  matchFibType,
  metaL4proto,
  metaPriority,
  type NftMap,
  numgen,
  setPriority,
  thDport,
} from '../../../kernel/nftables/index.ts';
import { type ChainRules, chainRules, type RuleBody } from './chain-rules.ts';
import type { Layout } from './layout.ts';
import { type FixedProgramOptions, matchLocal } from './program.ts';

// These chains differ by the number of endpoints, not by Service: all Services with three endpoints share one chain.
// Except for the permanent ones, a chain exists as long as a service port uses it.

/** What rendering a plan needs besides the plan. It creates each chain that several plans share only once. */
export class RenderContext {
  readonly layout: Layout;
  readonly options: FixedProgramOptions;
  readonly #picks = new Map<NftMap, ChainRules[]>();
  readonly #named = new Map<string, ChainRules>();

  constructor(layout: Layout, options: FixedProgramOptions) {
    this.layout = layout;
    this.options = options;
  }

  pick(endpoints: NftMap, count: number): ChainRules {
    const picks = this.#picks.get(endpoints) ?? [];
    this.#picks.set(endpoints, picks);
    const known = picks[count];
    if (known) return known;
    const chain = pickChain(this.layout, endpoints, count);
    picks[count] = chain;
    return chain;
  }

  /** The same name always means the same rules. */
  named(name: string, make: () => ChainRules): ChainRules {
    const known = this.#named.get(name);
    if (known) return known;
    const chain = make();
    this.#named.set(name, chain);
    return chain;
  }
}

/** Sends a connection to one of `count` endpoints, each with the same probability. */
export function pickChain(layout: Layout, endpoints: NftMap, count: number): ChainRules {
  const isNodePort = endpoints.type.length === layout.nodePortClusterEndpoints.type.length;
  const key = [...(isNodePort ? [] : [ipDaddr(layout.nft)]), metaL4proto, thDport, numgen('random', count)];
  return chainRules(`pick-${endpoints.name.replace('-endpoints', '')}-${count}`, [
    [...NO_PRIORITY, ...dnatToMap(layout.nft, key, endpoints.name)],
  ]);
}

/** All usable endpoints of a service port, or those on this node. */
export type Scope = 'cluster' | 'local';

export function slotChainName(scope: Scope): string {
  return `slot-${scope}`;
}

/**
 * Sends a connection to the endpoint of a slot that another chain has chosen. The packet's priority carries the number
 * of the slot. A frontend with an address has its endpoints in one map, and a node port in another.
 */
export function slotChain(layout: Layout, scope: Scope): ChainRules {
  const { nft, clusterEndpoints, localEndpoints, nodePortClusterEndpoints, nodePortLocalEndpoints } = layout;
  const [addresses, nodePorts] =
    scope === 'local' ? [localEndpoints, nodePortLocalEndpoints] : [clusterEndpoints, nodePortClusterEndpoints];
  const nodePort = [metaL4proto, thDport, metaPriority];
  // If a map does not have the key, the packet keeps the number for the next rule.
  const found = setPriority(constant(host32(0)), REGISTER_AFTER_MAPS);
  return chainRules(
    slotChainName(scope),
    [dnatToMap(nft, [ipDaddr(nft), ...nodePort], addresses.name, found)],
    [dnatToMap(nft, nodePort, nodePorts.name, found)],
  );
}

/** Keys and data of the maps of endpoints end before this register, also those of IPv6. */
const REGISTER_AFTER_MAPS = 3;

/** Chains for up to this number of endpoints always exist. */
const PERMANENT_PICKS = 10;

/**
 * The kernel walks through every element of a map when a chain begins to use it (20 ms at 25,000 endpoints). For usual
 * numbers of endpoints it does so once, while the maps are empty.
 */
export function permanentPicks(layout: Layout): readonly ChainRules[] {
  const { clusterEndpoints, localEndpoints, nodePortClusterEndpoints, nodePortLocalEndpoints } = layout;
  const maps = [clusterEndpoints, localEndpoints, nodePortClusterEndpoints, nodePortLocalEndpoints];
  const counts = Array.from({ length: PERMANENT_PICKS }, (_, i) => i + 1);
  return maps.flatMap(map => counts.map(count => pickChain(layout, map, count)));
}

/** Resets the packet's priority, which held the number of the chain. */
const NO_PRIORITY = setPriority(constant(host32(0)));

/** A shared chain: its kind, and its numbers of endpoints. */
export interface Target {
  readonly kind: keyof typeof KINDS;
  readonly cluster: number;
  readonly local: number;
}

const KINDS = {
  'pick-cluster': 1,
  'pick-local': 2,
  'external-cluster': 3,
  'external-local': 4,
  'nodeport-cluster': 5,
  'nodeport-local': 6,
} as const;

/**
 * The number of a shared chain: its kind in the first hexadecimal digit, the number of cluster endpoints in the next
 * four, the number of local endpoints in the last three. Undefined if there are too many endpoints for that.
 */
export function targetNumber({ kind, cluster, local }: Target): number | undefined {
  if (cluster > 0xffff || local > 0xfff) return undefined;
  return ((KINDS[kind] << 28) | (cluster << 12) | local) >>> 0;
}

/** External traffic with policy Cluster: the chain masquerades it and picks any endpoint. */
export function externalClusterChain(name: string, pick: string, options: FixedProgramOptions): ChainRules {
  return chainRules(name, [markOr(options.masqueradeMark), 'masquerade'], [[goto(pick)]]);
}

/**
 * External traffic with policy Local: traffic from pods and from the node itself goes to any endpoint, other traffic to
 * local endpoints. Without local endpoints the chain returns, and a filter chain drops the traffic.
 */
export function externalLocalChain(
  name: string,
  pickCluster: string,
  pickLocal: string | undefined,
  options: FixedProgramOptions,
): ChainRules {
  const fromNode = matchFibType('saddr', 'local');
  const toLocal: RuleBody[] = pickLocal === undefined ? [] : [[[goto(pickLocal)]]];
  return chainRules(
    name,
    ...podShortCircuit(pickCluster, options),
    [[...fromNode, ...markOr(options.masqueradeMark)], 'masquerade local traffic'],
    [[...fromNode, goto(pickCluster)], 'short-circuit local traffic'],
    ...toLocal,
  );
}

function podShortCircuit(
  pickCluster: string,
  { localDetector }: FixedProgramOptions,
): (readonly [Expression[], string])[] {
  if (!localDetector) return [];
  return [[[...matchLocal(localDetector, 'eq'), goto(pickCluster)], 'short-circuit pod traffic']];
}
