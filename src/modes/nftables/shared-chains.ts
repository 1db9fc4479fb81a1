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
  type NftMap,
  numgen,
  setPriority,
  thDport,
} from '../../kernel/nftables/index.ts';
import { type ChainRules, chainRules, type RuleBody } from './chain-rules.ts';
import type { Layout } from './layout.ts';
import { matchLocal, type ProgramOptions } from './program.ts';

// Chains that differ by numbers of endpoints, not by Service: all Services with three endpoints share one. But for those
// that are always there they come into being with their first user and go with their last.

/** What rendering a plan needs besides the plan. Chains that many plans share are made once. */
export class RenderContext {
  readonly layout: Layout;
  readonly options: ProgramOptions;
  readonly #picks = new Map<NftMap, ChainRules[]>();
  readonly #externals = new Map<string, ChainRules>();

  constructor(layout: Layout, options: ProgramOptions) {
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
  external(name: string, make: () => ChainRules): ChainRules {
    const known = this.#externals.get(name);
    if (known) return known;
    const chain = make();
    this.#externals.set(name, chain);
    return chain;
  }
}

/** Steers a connection to one of `count` endpoints, each as often. */
export function pickChain(layout: Layout, endpoints: NftMap, count: number): ChainRules {
  const isNodePort = endpoints.type.length === layout.nodePortClusterEndpoints.type.length;
  const key = [...(isNodePort ? [] : [ipDaddr(layout.nft)]), metaL4proto, thDport, numgen('random', count)];
  return chainRules(`pick-${endpoints.name.replace('-endpoints', '')}-${count}`, [
    [...NO_PRIORITY, ...dnatToMap(layout.nft, key, endpoints.name)],
  ]);
}

/** Chains for up to so many endpoints are always there. */
const STANDING_PICKS = 10;

/**
 * The kernel looks at every element of a map when a chain begins to use it, which takes the longer the more endpoints
 * there are. For the usual numbers of endpoints that is done once, while the maps are empty.
 */
export function standingPicks(layout: Layout): readonly ChainRules[] {
  const { clusterEndpoints, localEndpoints, nodePortClusterEndpoints, nodePortLocalEndpoints } = layout;
  const maps = [clusterEndpoints, localEndpoints, nodePortClusterEndpoints, nodePortLocalEndpoints];
  const counts = Array.from({ length: STANDING_PICKS }, (_, i) => i + 1);
  return maps.flatMap(map => counts.map(count => pickChain(layout, map, count)));
}

/** The number by which the chain was found is of no use to anybody else. */
const NO_PRIORITY = setPriority(constant(host32(0)));

/** What leads to a shared chain: which kind it is, and the numbers of endpoints. */
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
 * The number of a shared chain: its kind in the first hexadecimal digit, how many cluster endpoints in the next four, and
 * how many local ones in the last three. Undefined if there are too many for that.
 */
export function targetNumber({ kind, cluster, local }: Target): number | undefined {
  if (cluster > 0xffff || local > 0xfff) return undefined;
  return ((KINDS[kind] << 28) | (cluster << 12) | local) >>> 0;
}

/** External traffic with policy Cluster: masqueraded, then steered. */
export function externalClusterChain(name: string, pick: string, options: ProgramOptions): ChainRules {
  return chainRules(name, [markOr(options.masqueradeMark), 'masquerade'], [[goto(pick)]]);
}

/**
 * External traffic with policy Local: pods and the node itself go to all endpoints, others to local ones. Where there
 * is none, others fall through, to be dropped by the check of endpoints.
 */
export function externalLocalChain(
  name: string,
  pickCluster: string,
  pickLocal: string | undefined,
  options: ProgramOptions,
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

function podShortCircuit(pickCluster: string, { localDetector }: ProgramOptions): (readonly [Expression[], string])[] {
  if (!localDetector) return [];
  return [[[...matchLocal(localDetector, 'eq'), goto(pickCluster)], 'short-circuit pod traffic']];
}
