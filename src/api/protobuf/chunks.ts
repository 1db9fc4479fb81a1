import { asBuffer } from './reader.ts';

/** Collects the chunks of a stream. Joins them only when there are enough bytes, so that no byte is copied twice. */
export class Chunks {
  #parts: Uint8Array[] = [];
  #held = 0;
  #wanted = 1;

  /** Adds a chunk. Returns all bytes and forgets them if there are enough, otherwise undefined. */
  add(chunk: Uint8Array): Buffer | undefined {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return undefined;
    const bytes = this.#parts.length === 1 ? asBuffer(chunk) : Buffer.concat(this.#parts, this.#held);
    this.#parts = [];
    this.#held = 0;
    return bytes;
  }

  /** Puts back bytes that the caller could not use yet. `add` returns bytes again when there are `wanted`. */
  putBack(rest: Uint8Array, wanted: number): void {
    if (rest.length > 0) this.#parts.push(rest);
    this.#held = rest.length;
    this.#wanted = wanted;
  }

  get isEmpty(): boolean {
    return this.#held === 0;
  }
}
