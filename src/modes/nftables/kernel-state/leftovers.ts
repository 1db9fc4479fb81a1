import { type SetOrMap, Transaction } from '../../../kernel/nftables/index.ts';
import type { ChainRules } from '../table/chain-rules.ts';
import { type FixedOptions, fixedChains } from '../table/fixed.ts';
import { fixedSets, type Layout, setsOfFixedElements, TABLE } from '../table/layout.ts';
import type { Snapshot } from './snapshot.ts';
import { chainIdentity, setIdentity, type UseCounts } from './use-counts.ts';

/** Chains and sets that no service port uses any more. The writer removes them later. */
export interface Leftovers {
  readonly chains: ReadonlyMap<string, ChainRules['chain']>;
  readonly sets: ReadonlyMap<string, SetOrMap>;
}

export const NO_LEFTOVERS: Leftovers = { chains: new Map(), sets: new Map() };

/** The leftovers after a transaction that released some objects and uses others again. */
export function mergeLeftovers(left: Leftovers, released: Leftovers, revived: ReadonlySet<string>): Leftovers {
  const chains = [...left.chains, ...released.chains];
  const sets = [...left.sets, ...released.sets];
  return {
    chains: new Map(chains.filter(([name]) => !revived.has(chainIdentity(name)))),
    sets: new Map(sets.filter(([name]) => !revived.has(setIdentity(name)))),
  };
}

export function removal({ nft }: Layout, { chains, sets }: Leftovers): Transaction {
  const transaction = new Transaction(nft, TABLE);
  for (const chain of chains.values()) transaction.flush(chain);
  for (const set of sets.values()) transaction.delete(set);
  for (const chain of chains.values()) transaction.delete(chain);
  return transaction;
}

/** Removes elements that the kernel has and no plan wants. */
export function removalOfStrays(layout: Layout, snapshot: Snapshot): Transaction {
  const transaction = new Transaction(layout.nft, TABLE);
  const ofTheFixedPart = setsOfFixedElements(layout);
  for (const [name, listed] of snapshot.elements) {
    if (ofTheFixedPart.some(set => set.name === name)) continue;
    transaction.deleteElements(listed.set, [...listed.leftovers()]);
  }
  return transaction;
}

/** Chains and sets that the kernel has and no plan wants. */
export function unknownObjects(
  layout: Layout,
  options: FixedOptions,
  useCounts: UseCounts,
  snapshot: Snapshot,
): Leftovers {
  const fixed = fixedNames(layout, options);
  const chains = [...snapshot.chains].filter(
    ([name]) => !fixed.has(name) && useCounts.count(chainIdentity(name)) === 0,
  );
  const sets = [...snapshot.sets].filter(
    ([name, set]) => !fixed.has(name) && !set.flags?.includes('anonymous') && useCounts.count(setIdentity(name)) === 0,
  );
  return { chains: new Map(chains.map(([name, { chain }]) => [name, chain])), sets: new Map(sets) };
}

function fixedNames(layout: Layout, options: FixedOptions): ReadonlySet<string> {
  const chains = fixedChains(layout, options).map(({ chain }) => chain.name);
  return new Set([...chains, ...fixedSets(layout).map(({ name }) => name)]);
}
