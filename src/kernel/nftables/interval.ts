import type { Element } from './element.ts';

/**
 * The second element of a range of a single field. The kernel stores such a range as two elements: the first key, and
 * the key after the last one with the flag `interval end`. The second element is missing if the range reaches the
 * highest key. Keys of such sets are in network byte order, whatever their type is.
 */
export function intervalEnd(element: Element): Element | undefined {
  const next = Buffer.from(element.keyEnd ?? element.key);
  for (let i = next.length - 1; i >= 0; i--) {
    next[i] = ((next[i] ?? 0) + 1) & 0xff;
    if (next[i] !== 0) return { kind: 'element', key: next, intervalEnd: true };
  }
  return undefined;
}

/** The first element of a range. */
export function intervalStart(element: Element): Element {
  if (element.keyEnd === undefined) return element;
  const { keyEnd, ...start } = element;
  return start;
}

/**
 * Joins listed elements into ranges, in ascending order after a catch-all element. The elements can be in any order,
 * because the kernel does not promise one.
 */
export function joinIntervals(elements: readonly Element[]): Element[] {
  const sorted = elements.filter(element => !element.catchAll).sort(byKey);
  const ranges = elements.filter(element => element.catchAll);
  let start: Element | undefined;
  for (const element of sorted) {
    if (start) ranges.push(toRange(start, previousKey(element.key)));
    start = element.intervalEnd ? undefined : element;
  }
  if (start) ranges.push(toRange(start, Buffer.alloc(start.key.length, 0xff)));
  return ranges;
}

/** If a range ends and the next begins at the same key, the end comes first. */
function byKey(a: Element, b: Element): number {
  return Buffer.compare(a.key, b.key) || Number(b.intervalEnd ?? false) - Number(a.intervalEnd ?? false);
}

function toRange(start: Element, last: Buffer): Element {
  return start.key.equals(last) ? start : { ...start, keyEnd: last };
}

function previousKey(key: Buffer): Buffer {
  const last = Buffer.from(key);
  for (let i = last.length - 1; i >= 0; i--) {
    last[i] = ((last[i] ?? 0) - 1) & 0xff;
    if (last[i] !== 0xff) break;
  }
  return last;
}
