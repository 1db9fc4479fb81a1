import { type MappedMemory, mapMemory } from '../libc.ts';

/**
 * The elements of an array map in memory that programs read at the same time. Writing needs no system call.
 * The memory itself is never handed out, so that nothing can touch it after `close`.
 */
export class MappedArray {
  readonly #name: string;
  /** Elements begin at multiples of 8 bytes. */
  readonly #elementBytes: number;
  readonly #length: number;
  #memory: MappedMemory | undefined;

  constructor(fd: number, { name, valueBytes, entries }: { name: string; valueBytes: number; entries: number }) {
    this.#name = name;
    this.#elementBytes = Math.ceil(valueBytes / 8) * 8;
    this.#length = entries * this.#elementBytes;
    this.#memory = mapMemory(fd, this.#length, `map the memory of ${name}`);
  }

  /** Writes whole elements, one after another. A program may read an element that is half written. */
  write(index: number, elements: Uint8Array): void {
    const at = this.#offset(index, elements.length);
    if (elements.length % this.#elementBytes !== 0) {
      throw new RangeError(`${this.#name}: ${elements.length} bytes are not whole elements of ${this.#elementBytes}`);
    }
    new Uint8Array(this.#bytes(), at, elements.length).set(elements);
  }

  /** Writes the first eight bytes of an element in one store. A program reads the old ones or the new ones. */
  store(index: number, word: bigint): void {
    Atomics.store(new BigUint64Array(this.#bytes(), this.#offset(index, 8), 1), 0, word);
  }

  /** A copy of some elements. The default is all of them. */
  read(index = 0, count = this.#length / this.#elementBytes - index): Buffer {
    const length = count * this.#elementBytes;
    return Buffer.from(new Uint8Array(this.#bytes(), this.#offset(index, length), length));
  }

  /** Gives the memory back. The map stays. */
  close(): void {
    this.#memory?.unmap();
    this.#memory = undefined;
  }

  #bytes(): ArrayBuffer {
    if (!this.#memory) throw new Error(`the memory of ${this.#name} is closed`);
    return this.#memory.bytes;
  }

  #offset(index: number, length: number): number {
    const at = index * this.#elementBytes;
    if (Number.isInteger(index) && index >= 0 && at + length <= this.#length) return at;
    throw new RangeError(`${this.#name}: element ${index} with ${length} bytes is not in the map`);
  }
}
