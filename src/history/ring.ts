import { entryBytes, type MutableEntry } from './entry.ts';

export interface RingLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** The last entries, within a number and a size. A new entry replaces the oldest ones. */
export class Ring {
  readonly #limits: RingLimits;
  readonly #slots: (MutableEntry | undefined)[] = [];
  /** Where the oldest entry is. */
  #first = 0;
  #size = 0;
  #bytes = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** An upper bound of the memory that the entries take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The oldest entry. Undefined without entries. */
  get first(): MutableEntry | undefined {
    return this.#slots[this.#first];
  }

  add(entry: MutableEntry): void {
    const { maxEntries, maxBytes } = this.#limits;
    const bytes = entryBytes(entry);
    while (this.#size > 0 && (this.#size >= maxEntries || this.#bytes + bytes > maxBytes)) this.#removeFirst();
    this.#slots[(this.#first + this.#size) % maxEntries] = entry;
    this.#size++;
    this.#bytes += bytes;
  }

  /** From the newest to the oldest. */
  *newestFirst(): Generator<MutableEntry> {
    for (let i = this.#size - 1; i >= 0; i--) {
      const entry = this.#slots[(this.#first + i) % this.#limits.maxEntries];
      if (entry) yield entry;
    }
  }

  #removeFirst(): void {
    const entry = this.#slots[this.#first];
    if (entry) this.#bytes -= entryBytes(entry);
    this.#slots[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#limits.maxEntries;
    this.#size--;
  }
}
