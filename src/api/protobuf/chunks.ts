import { asBuffer } from './reader.ts';

/** Chunks of a stream as one run of bytes. They are joined only once enough has come, so that none is copied twice. */
export class Chunks {
  #parts: Uint8Array[] = [];
  #held = 0;
  #wanted = 1;

  /** All bytes that are held, if they are as many as wanted. They are then no longer held. */
  take(chunk: Uint8Array): Buffer | undefined {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return undefined;
    const bytes = this.#parts.length === 1 ? asBuffer(chunk) : Buffer.concat(this.#parts, this.#held);
    this.#parts = [];
    this.#held = 0;
    return bytes;
  }

  /** Gives back the bytes that were too few; `wanted` of them are needed to go on. */
  keep(rest: Uint8Array, wanted: number): void {
    if (rest.length > 0) this.#parts.push(rest);
    this.#held = rest.length;
    this.#wanted = wanted;
  }

  get empty(): boolean {
    return this.#held === 0;
  }
}
