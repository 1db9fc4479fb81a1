import { type Register, WORDS, wordOf, wordsFor } from '../registers.ts';
import type { Operand } from './operand.ts';

interface Holding {
  readonly operand: Operand;
  readonly words: number;
  /** When it was written, to tell the parts of a key from what an earlier expression left behind it. */
  readonly time: number;
}

/** What the registers hold while a rule is walked. */
export interface Held {
  readonly words: Map<number, Holding>;
  time: number;
}

export function nothingHeld(): Held {
  return { words: new Map(), time: 0 };
}

/** Without a size, as of a map's data whose size the rule does not say, it may reach to the last register. */
export function hold(held: Held, register: Register, operand: Operand, bytes: number | undefined): void {
  const start = wordOf(register);
  if (start === undefined) return;
  const words = bytes === undefined ? WORDS - start : Math.min(WORDS - start, Math.max(1, wordsFor(bytes)));
  for (const [at, other] of held.words) {
    if (at >= start && at < start + words) held.words.delete(at);
    else if (at < start && at + other.words > start) held.words.set(at, { ...other, words: start - at });
  }
  held.words.set(start, { operand, words, time: held.time++ });
}

export function forget(held: Held, register: Register): void {
  const start = wordOf(register);
  if (start !== undefined) held.words.delete(start);
}

/** After an expression that may have written any register. */
export function forgetAll(held: Held): void {
  held.words.clear();
}

/** What covers the register's first word: also the second part of a map's concatenated data. */
export function heldIn(held: Held, register: Register): Operand | undefined {
  const word = wordOf(register);
  if (word === undefined) return undefined;
  for (const [at, { operand, words }] of held.words) if (at <= word && word < at + words) return operand;
  return undefined;
}

/**
 * The parts of the key that begins in a register. A lookup does not say how long its key is; the parts are loaded one
 * after another into neighbouring registers, so the key ends before a word that was written earlier.
 */
export function keyIn(held: Held, register: Register, words = WORDS): Operand[] {
  const parts: Operand[] = [];
  const start = wordOf(register) ?? WORDS;
  let time = -1;
  for (let word = start; word < start + words; ) {
    const holding = held.words.get(word);
    if (!holding || holding.time < time) break;
    parts.push(holding.operand);
    time = holding.time;
    word += holding.words;
  }
  return parts;
}
