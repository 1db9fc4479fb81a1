import type { BpfMap } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';

/** The kernel takes so many entries in a few milliseconds. */
const MAX_BATCH = 4096;

/** Bytes as text, to be a key of a Map. */
export type ByteText = string;

export function byteText(bytes: Buffer, start = 0, end = bytes.length): ByteText {
  return bytes.toString('latin1', start, end);
}

/** A hash map of the kernel, and what this process wrote to it. */
export class HashTable {
  readonly #map: BpfMap;
  /** Keys and values. */
  readonly #written = new Map<ByteText, ByteText>();

  constructor(map: BpfMap) {
    this.#map = map;
  }

  get name(): string {
    return this.#map.spec.name;
  }

  get usage(): { readonly map: string; readonly used: number; readonly capacity: number } {
    return { map: this.name, used: this.#written.size, capacity: this.#map.spec.entries };
  }

  hasRoom(added: number): boolean {
    return this.#written.size + added <= this.#map.spec.entries;
  }

  keys(): readonly ByteText[] {
    return [...this.#written.keys()];
  }

  /** Adds and replaces entries. Writes only what differs. */
  set(entries: Iterable<readonly [ByteText, ByteText]>): void {
    const changed = [...entries].filter(([key, value]) => this.#written.get(key) !== value);
    for (let at = 0; at < changed.length; at += MAX_BATCH) {
      const batch = changed.slice(at, at + MAX_BATCH);
      this.#map.updateBatch(bytesOf(batch.map(([key]) => key)), bytesOf(batch.map(([, value]) => value)));
      for (const [key, value] of batch) this.#written.set(key, value);
    }
  }

  remove(keys: Iterable<ByteText>): void {
    const known = [...keys].filter(key => this.#written.has(key));
    if (known.length === 0) return;
    this.#map.removeBatch(bytesOf(known));
    for (const key of known) this.#written.delete(key);
  }

  /** How the kernel's map differs from what this process wrote, in words. Undefined if it does not. */
  async difference(breaks: Breaks): Promise<string | undefined> {
    const { keys, values } = this.#map.entries();
    const { keyBytes, valueBytes } = this.#map.spec;
    const found = keys.length / keyBytes;
    for (let i = 0; i < found; i++) {
      if (i % 256 === 0 && breaks.isDue) await breaks.take();
      const wanted = this.#written.get(byteText(keys, i * keyBytes, (i + 1) * keyBytes));
      if (wanted === undefined) return `another program added an entry to map ${this.name}`;
      if (wanted !== byteText(values, i * valueBytes, (i + 1) * valueBytes)) {
        return `another program changed an entry of map ${this.name}`;
      }
    }
    return found < this.#written.size ? `another program removed entries of map ${this.name}` : undefined;
  }
}

function bytesOf(texts: readonly ByteText[]): Buffer {
  return Buffer.from(texts.join(''), 'latin1');
}
