/**
 * A register's number as nf_tables counts them. There are 64 bytes, addressed in two ways that overlap:
 *
 *   word       0   1   2   3 |  4   5   6   7 |  8   9  10  11 | 12  13  14  15
 *   16 bytes         1       |       2        |       3        |       4
 *    4 bytes   8   9  10  11 | 12  13  14  15 | 16  17  18  19 | 20  21  22  23
 *
 * So `reg 1` and `reg 8` begin at the same place, and a concatenated key that begins in `reg 1` goes on in `reg 9`.
 * Register 0 takes verdicts and holds no data.
 */
export type Register = number;

export const REG_VERDICT: Register = 0;

/** 32-bit words in all registers together. */
export const WORDS = 16;
const WORDS_PER_REGISTER = 4;
const FIRST_WORD_REGISTER = 8;

/** The 32-bit word at which a register begins; undefined for the verdict register and for numbers that are none. */
export function wordOf(register: Register): number | undefined {
  if (register >= 1 && register <= 4) return (register - 1) * WORDS_PER_REGISTER;
  const word = register - FIRST_WORD_REGISTER;
  return word >= 0 && word < WORDS ? word : undefined;
}

/** The register that begins at a word, by the number under which the kernel lists it: 1, 9, 10, 11, 2, 13 … */
export function registerAt(word: number): Register {
  if (!Number.isInteger(word) || word < 0 || word >= WORDS) throw new RangeError(`no register begins at word ${word}`);
  return word % WORDS_PER_REGISTER === 0 ? word / WORDS_PER_REGISTER + 1 : word + FIRST_WORD_REGISTER;
}

/** How many words a value of so many bytes takes; each value begins at a word of its own. */
export function wordsFor(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** `reg 1`, `reg 9`. */
export function printRegister(register: Register): string {
  return `reg ${register}`;
}
