import type { Expression } from '../expression.ts';
import { type Register, registerAt, WORDS, wordOf, wordsFor } from '../registers.ts';

/** Something that a rule can load: the left side of a match, a part of a key, a value to set. */
export interface Selector {
  /** Bytes that it takes in a register. */
  readonly bytes: number;
  load(dreg: Register): readonly Expression[];
}

/** Where single values and keys begin. */
export const REG_1: Register = 1;

/** Loads the parts of a key into consecutive registers, as sets with a concatenated type want it: `a . b . c`. */
export function concat(parts: readonly Selector[], dreg: Register = REG_1): Expression[] {
  let word = wordOf(dreg);
  if (word === undefined) throw new RangeError(`register ${dreg} holds no data`);
  const expressions: Expression[] = [];
  for (const part of parts) {
    expressions.push(...part.load(registerAt(word)));
    word += wordsFor(part.bytes);
    if (word > WORDS) throw new RangeError(`a key of more than ${4 * WORDS} bytes has no room in the registers`);
  }
  return expressions;
}

/** Bytes of a concatenated key: each part begins at a word of its own. */
export function concatBytes(parts: readonly Selector[]): number {
  const [only, second] = parts;
  if (only && !second) return only.bytes;
  return 4 * parts.reduce((words, part) => words + wordsFor(part.bytes), 0);
}
