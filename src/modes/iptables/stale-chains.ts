import type { ServicePortPlan } from '../../plan/index.ts';
import type { Table } from './fixed.ts';
import { isOwnChain, OWN_PREFIXES } from './names.ts';
import { RestoreText, type TableText } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';

/** Those of the chains of nat that belonged to service ports and do not any more, in the order in which they can be deleted. */
export function staleChains(
  present: Iterable<string>,
  plans: readonly ServicePortPlan[],
  options: RuleOptions,
): readonly string[] {
  const stale = new Set([...present].filter(isOwnChain));
  if (stale.size === 0) return [];
  for (const plan of plans) for (const chain of ownChains(plan, options, false).chains) stale.delete(chain);
  return inDeletionOrder(stale);
}

/** Chains that jump to others come before those. */
export function inDeletionOrder(chains: Iterable<string>): readonly string[] {
  const all = [...chains];
  return OWN_PREFIXES.flatMap(prefix => all.filter(chain => chain.startsWith(prefix)));
}

/** Restores that remove chains, in the order given. */
export function* removalTexts(table: Table, chains: readonly string[], chainsAPart: number): Generator<RestoreText> {
  for (let first = 0; first < chains.length; first += chainsAPart) {
    const text = new RestoreText();
    addRemovals(text.table(table), chains.slice(first, first + chainsAPart));
    yield text;
  }
}

/** A chain must be empty to be removed, which its declaration makes it. */
export function addRemovals(table: TableText, chains: readonly string[]): void {
  table.addChains(chains);
  for (const chain of chains) table.rule(`-X ${chain}`);
}
