import { shorten } from '../../lib/shorten.ts';

/** A message, or a text that is a value of its own. */
export const MAX_TEXT_LENGTH = 4096;
/** A list or a map, as JSON. */
export const MAX_JSON_LENGTH = 16_384;
export const MAX_FIELDS = 64;

const MAX_ITEMS = 100;
const MAX_ITEM_LENGTH = 1024;
const MAX_VALUES = 1000;

/**
 * Returns a function that limits each value which JSON.stringify visits: the length of texts and keys, the items of
 * lists and maps, and the number of all values. A value within the limits stays the same.
 */
export function valueLimiter(): (value: unknown) => unknown {
  let left = MAX_VALUES;
  return value => {
    if (left-- <= 0) return '…';
    if (typeof value === 'string') return shorten(value, MAX_ITEM_LENGTH);
    if (Array.isArray(value)) return limitedList(value);
    return typeof value === 'object' && value !== null ? limitedMap(value) : value;
  };
}

function limitedList(list: readonly unknown[]): readonly unknown[] {
  if (list.length <= MAX_ITEMS) return list;
  return [...list.slice(0, MAX_ITEMS), `… ${list.length - MAX_ITEMS} more`];
}

function limitedMap(map: object): object {
  const entries = Object.entries(map);
  if (entries.length <= MAX_ITEMS && entries.every(([key]) => key.length <= MAX_ITEM_LENGTH)) return map;
  const kept = entries.slice(0, MAX_ITEMS).map(([key, value]) => [shorten(key, MAX_ITEM_LENGTH), value] as const);
  if (entries.length > MAX_ITEMS) kept.push(['…', `${entries.length - MAX_ITEMS} more`]);
  return Object.fromEntries(kept);
}
