import type { BpfMap, Entries } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';

/** How many entries are looked at before the time is. */
const CHECK_EVERY = 256;

/** How a hash map differs from what it should have, in words. Undefined if it does not. */
export async function mapDifference(map: BpfMap, wanted: Entries, breaks: Breaks): Promise<string | undefined> {
  const { name, keyBytes, valueBytes } = map.spec;
  const text = (bytes: Buffer, i: number, size: number) => bytes.toString('latin1', i * size, (i + 1) * size);
  const places = new Map<string, number>();
  for (let i = 0; i < wanted.keys.length / keyBytes; i++) {
    if (i % CHECK_EVERY === 0 && breaks.isDue) await breaks.take();
    places.set(text(wanted.keys, i, keyBytes), i);
  }
  const found = map.entries();
  const count = found.keys.length / keyBytes;
  for (let i = 0; i < count; i++) {
    if (i % CHECK_EVERY === 0 && breaks.isDue) await breaks.take();
    const place = places.get(text(found.keys, i, keyBytes));
    if (place === undefined) return `another program added an entry to map ${name}`;
    const start = place * valueBytes;
    const isSame =
      found.values.compare(wanted.values, start, start + valueBytes, i * valueBytes, (i + 1) * valueBytes) === 0;
    if (!isSame) return `another program changed an entry of map ${name}`;
  }
  return count < places.size ? `another program removed an entry of map ${name}` : undefined;
}
