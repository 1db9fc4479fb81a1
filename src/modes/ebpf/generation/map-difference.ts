import type { BpfMap, Entries } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';

/** How many entries are looked at before the time is. */
const CHECK_EVERY = 256;

/**
 * How a hash map differs from what it should have, in words. Undefined if it does not. `wanted` gives the entries in
 * parts, each of which is made in a short time.
 */
export async function mapDifference(
  map: BpfMap,
  wanted: Iterable<Entries>,
  breaks: Breaks,
): Promise<string | undefined> {
  const { name, keyBytes, valueBytes } = map.spec;
  const text = (bytes: Buffer, i: number, size: number) => bytes.toString('latin1', i * size, (i + 1) * size);
  const values = new Map<string, string>();
  for (const part of wanted) {
    if (breaks.isDue) await breaks.take();
    for (let i = 0; i < part.keys.length / keyBytes; i++) {
      values.set(text(part.keys, i, keyBytes), text(part.values, i, valueBytes));
    }
  }
  const found = map.entries();
  const count = found.keys.length / keyBytes;
  for (let i = 0; i < count; i++) {
    if (i % CHECK_EVERY === 0 && breaks.isDue) await breaks.take();
    const value = values.get(text(found.keys, i, keyBytes));
    if (value === undefined) return `another program added an entry to map ${name}`;
    if (value !== text(found.values, i, valueBytes)) return `another program changed an entry of map ${name}`;
  }
  return count < values.size ? `another program removed an entry of map ${name}` : undefined;
}

/** Cuts many items into parts. */
export function* parts<T>(items: Iterable<T>, size = CHECK_EVERY): Generator<readonly T[]> {
  let part: T[] = [];
  for (const item of items) {
    if (part.push(item) < size) continue;
    yield part;
    part = [];
  }
  yield part;
}
