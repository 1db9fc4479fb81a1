import type { Element } from './element.ts';

/**
 * Ranges of a single field. The kernel keeps each as two elements: the first key, and the key behind the last with the
 * flag `interval end`; the second is missing where the range reaches the highest key. Keys of such sets are in network
 * byte order whatever their type.
 */
export function intervalEnd(element: Element): Element | undefined {
  const behind = Buffer.from(element.keyEnd ?? element.key);
  for (let i = behind.length - 1; i >= 0; i--) {
    behind[i] = ((behind[i] ?? 0) + 1) & 0xff;
    if (behind[i] !== 0) return { kind: 'element', key: behind, intervalEnd: true };
  }
  return undefined;
}

/** The first of the two elements. */
export function intervalStart(element: Element): Element {
  if (element.keyEnd === undefined) return element;
  const { keyEnd, ...start } = element;
  return start;
}

/**
 * Puts elements that were read together to ranges, in ascending order behind a catch-all. The kernel's own
 * order is not relied on.
 */
export function joinIntervals(elements: readonly Element[]): Element[] {
  const sorted = elements.filter(element => !element.catchAll).sort(byKey);
  const ranges = elements.filter(element => element.catchAll);
  let start: Element | undefined;
  for (const element of sorted) {
    if (start) ranges.push(range(start, before(element.key)));
    start = element.intervalEnd ? undefined : element;
  }
  if (start) ranges.push(range(start, Buffer.alloc(start.key.length, 0xff)));
  return ranges;
}

/** Where one range ends and the next begins at the same key, the end comes first. */
function byKey(a: Element, b: Element): number {
  return Buffer.compare(a.key, b.key) || Number(b.intervalEnd ?? false) - Number(a.intervalEnd ?? false);
}

function range(start: Element, last: Buffer): Element {
  return start.key.equals(last) ? start : { ...start, keyEnd: last };
}

function before(key: Buffer): Buffer {
  const last = Buffer.from(key);
  for (let i = last.length - 1; i >= 0; i--) {
    last[i] = ((last[i] ?? 0) - 1) & 0xff;
    if (last[i] !== 0xff) break;
  }
  return last;
}
