import { signal } from '@preact/signals';
import type { HistoryRow } from '../../../inspect/index.ts';

/** The proxy keeps as many. */
const MAX_ENTRIES = 4096;

/** Entries that came while the page was open, and those that a view has asked for, sorted by id without doubles. */
export const historyEntries = signal<readonly HistoryRow[]>([]);

/** Adds entries. A newer version of an entry replaces the older one. The oldest go first. */
export function addHistory(added: readonly HistoryRow[]): void {
  historyEntries.value = mergeEntries(historyEntries.value, added, MAX_ENTRIES);
}

export function mergeEntries(
  known: readonly HistoryRow[],
  added: readonly HistoryRow[],
  limit: number,
): readonly HistoryRow[] {
  const lastId = known.at(-1)?.id ?? Number.NEGATIVE_INFINITY;
  const isAfter = added.every((entry, i) => entry.id > (added[i - 1]?.id ?? lastId));
  if (isAfter) return [...known, ...added].slice(-limit);
  const byId = new Map([...known, ...added].map(entry => [entry.id, entry]));
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-limit);
}
