import type { Table } from './fixed.ts';
import { OWN_PREFIXES } from './names.ts';
import { RestoreText, type TableText } from './restore-text.ts';

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
