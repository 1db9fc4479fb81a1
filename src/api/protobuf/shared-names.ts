import type { GrowingList } from './growing-list.ts';

/** More different lists than this are no longer repeats worth keeping; the table then starts afresh. */
const MOST_LISTS = 1 << 10;

const lists = new Map<string, GrowingList<string>>();

/** One list for equal lists of names. */
export function sharedNames(names: GrowingList<string>): GrowingList<string> {
  if (names.length === 0) return names;
  const key = names.join('\0');
  const known = lists.get(key);
  if (known) return known;
  if (lists.size >= MOST_LISTS) lists.clear();
  lists.set(key, names);
  return names;
}
