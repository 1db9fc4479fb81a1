/**
 * The number of a register of nf_tables. All registers together have 64 bytes. Two kinds of registers overlap:
 *
 *   word       0   1   2   3 |  4   5   6   7 |  8   9  10  11 | 12  13  14  15
 *   16 bytes         1       |       2        |       3        |       4
 *    4 bytes   8   9  10  11 | 12  13  14  15 | 16  17  18  19 | 20  21  22  23
 *
 * So `reg 1` and `reg 8` begin at the same word, and a concatenated key that begins in `reg 1` continues in `reg 9`.
 * Register 0 is for verdicts and holds no data.
 */
export type Register = number;

export const REG_VERDICT: Register = 0;

/** The number of 32-bit words in all registers together. */
export const WORDS = 16;
const WORDS_PER_REGISTER = 4;
const FIRST_WORD_REGISTER = 8;

/** The 32-bit word at which a register begins. Undefined for the verdict register and for invalid numbers. */
export function wordOf(register: Register): number | undefined {
  if (register >= 1 && register <= 4) return (register - 1) * WORDS_PER_REGISTER;
  const word = register - FIRST_WORD_REGISTER;
  return word >= 0 && word < WORDS ? word : undefined;
}

/** The register that begins at a word, with the number that the kernel lists: 1, 9, 10, 11, 2, 13 … */
export function registerAt(word: number): Register {
  if (!Number.isInteger(word) || word < 0 || word >= WORDS) throw new RangeError(`no register begins at word ${word}`);
  return word % WORDS_PER_REGISTER === 0 ? word / WORDS_PER_REGISTER + 1 : word + FIRST_WORD_REGISTER;
}

/** How many words a value of this many bytes occupies. Each value begins at a new word. */
export function wordsFor(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** `reg 1`, `reg 9`. */
export function printRegister(register: Register): string {
  return `reg ${register}`;
}
