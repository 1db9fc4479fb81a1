import type { Expression } from '../expression.ts';
import { type Register, registerAt, WORDS, wordOf, wordsFor } from '../registers.ts';

/** A value that a rule can load: the left side of a match, a part of a key, or a value to set. */
export interface Selector {
  /** The bytes that the value occupies in registers. */
  readonly bytes: number;
  load(dreg: Register): readonly Expression[];
}

/** The register in which single values and keys begin. */
export const REG_1: Register = 1;

/** Loads the parts of a key into consecutive registers, for sets with a concatenated type: `a . b . c`. */
export function concat(parts: readonly Selector[], dreg: Register = REG_1): Expression[] {
  let word = wordOf(dreg);
  if (word === undefined) throw new RangeError(`register ${dreg} holds no data`);
  const expressions: Expression[] = [];
  for (const part of parts) {
    expressions.push(...part.load(registerAt(word)));
    word += wordsFor(part.bytes);
    if (word > WORDS) throw new RangeError(`a key of more than ${4 * WORDS} bytes does not fit into the registers`);
  }
  return expressions;
}

/** The bytes of a concatenated key. Each part begins at a new word. */
export function concatBytes(parts: readonly Selector[]): number {
  const [only, second] = parts;
  if (only && !second) return only.bytes;
  return 4 * parts.reduce((words, part) => words + wordsFor(part.bytes), 0);
}
