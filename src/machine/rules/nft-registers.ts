import { type Register, wordOf, wordsFor } from '../../kernel/nftables/index.ts';
import type { KnownBytes } from './known-bytes.ts';

const BYTES = 64;
const WORD = 4;

/** The registers of nf_tables while a rule is evaluated. */
export class Registers {
  readonly #bytes = Buffer.alloc(BYTES);
  readonly #known = Buffer.alloc(BYTES);
  /** For each word: what would have to be known. */
  readonly #unknown: (readonly string[])[] = Array.from({ length: BYTES / WORD }, () => ['a value']);

  store(register: Register, value: KnownBytes): void {
    const word = wordOf(register);
    if (word === undefined) return;
    const [at, words] = [word * WORD, wordsFor(value.bytes.length)];
    this.#bytes.fill(0, at, at + words * WORD).set(value.bytes.subarray(0, BYTES - at), at);
    // The kernel clears the rest of the last word.
    this.#known.fill(0xff, at, at + words * WORD).set(value.known.subarray(0, BYTES - at), at);
    this.#unknown.fill(value.unknown, word, word + words);
  }

  /** Forgets all values, because an expression that is not known may have changed any of them. */
  clear(reason: string): void {
    this.#known.fill(0);
    this.#unknown.fill([reason]);
  }

  load(register: Register, length: number): KnownBytes {
    const word = wordOf(register) ?? 0;
    const at = word * WORD;
    const reasons = this.#unknown.slice(word, word + wordsFor(length)).flat();
    return {
      bytes: Buffer.from(this.#bytes.subarray(at, at + length)),
      known: Buffer.from(this.#known.subarray(at, at + length)),
      unknown: [...new Set(reasons)],
    };
  }
}
