import type { Table } from './fixed.ts';
import { OWN_PREFIXES } from './names.ts';
import { RestoreText } from './restore-text.ts';

/** Chains that jump to others come before those. */
export function inDeletionOrder(chains: Iterable<string>): readonly string[] {
  const all = [...chains];
  return OWN_PREFIXES.flatMap(prefix => all.filter(chain => chain.startsWith(prefix)));
}

/** Restores that remove chains, in the order given. */
export function* removalTexts(table: Table, chains: readonly string[], chainsAPart: number): Generator<RestoreText> {
  for (let first = 0; first < chains.length; first += chainsAPart) {
    const text = new RestoreText();
    const part = text.table(table);
    const some = chains.slice(first, first + chainsAPart);
    part.addChains(some);
    for (const chain of some) part.rule(`-X ${chain}`);
    yield text;
  }
}
