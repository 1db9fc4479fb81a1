import type { ServicePortPlan } from '../../../plan/index.ts';
import { isOwnChain, OWN_PREFIXES } from '../names.ts';
import type { Table } from '../rules/fixed-rules.ts';
import { RestoreText, type TableText } from '../rules/restore-text.ts';
import type { RuleOptions } from '../rules/rule-options.ts';
import { ownChains } from '../rules/service-chains.ts';

/** The chains of nat that belong to no service port any more, in the order in which they can be deleted. */
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

/** A chain comes before the chains that it jumps to. */
export function inDeletionOrder(chains: Iterable<string>): readonly string[] {
  const all = [...chains];
  return OWN_PREFIXES.flatMap(prefix => all.filter(chain => chain.startsWith(prefix)));
}

/** Restores that remove the chains, in the given order. */
export function* removalTexts(
  table: Table,
  chains: readonly string[],
  chainsPerRestore: number,
): Generator<RestoreText> {
  for (let first = 0; first < chains.length; first += chainsPerRestore) {
    const text = new RestoreText();
    addRemovals(text.table(table), chains.slice(first, first + chainsPerRestore));
    yield text;
  }
}

/** A chain must be empty to be removed. Its declaration empties it. */
export function addRemovals(table: TableText, chains: readonly string[]): void {
  table.addChains(chains);
  for (const chain of chains) table.rule(`-X ${chain}`);
}
