import { type Register, WORDS, wordOf, wordsFor } from '../registers.ts';
import type { Operand } from './operand.ts';

interface StoredOperand {
  readonly operand: Operand;
  readonly words: number;
  /** Increases with each write. Separates the parts of a key from older contents of the next registers. */
  readonly serial: number;
}

/** The contents of the registers while a rule is printed. */
export interface RegisterContents {
  readonly words: Map<number, StoredOperand>;
  serial: number;
}

export function emptyRegisters(): RegisterContents {
  return { words: new Map(), serial: 0 };
}

/** Stores an operand. The size of a map's data is unknown. Then the operand may extend to the last register. */
export function storeOperand(
  contents: RegisterContents,
  register: Register,
  operand: Operand,
  bytes: number | undefined,
): void {
  const start = wordOf(register);
  if (start === undefined) return;
  const words = bytes === undefined ? WORDS - start : Math.min(WORDS - start, Math.max(1, wordsFor(bytes)));
  for (const [at, other] of contents.words) {
    if (at >= start && at < start + words) contents.words.delete(at);
    else if (at < start && at + other.words > start) contents.words.set(at, { ...other, words: start - at });
  }
  contents.words.set(start, { operand, words, serial: contents.serial++ });
}

export function clearRegister(contents: RegisterContents, register: Register): void {
  const start = wordOf(register);
  if (start !== undefined) contents.words.delete(start);
}

/** For an expression that may have written any register. */
export function clearAllRegisters(contents: RegisterContents): void {
  contents.words.clear();
}

/** The operand at the register's first word. It may begin in an earlier register, as a map's concatenated data do. */
export function operandIn(contents: RegisterContents, register: Register): Operand | undefined {
  const word = wordOf(register);
  if (word === undefined) return undefined;
  for (const [at, { operand, words }] of contents.words) if (at <= word && word < at + words) return operand;
  return undefined;
}

/**
 * The parts of the key that begins in a register. A lookup does not contain the length of its key. Rules load the parts
 * one after another into neighbouring registers, so the key ends before a word that was written earlier.
 */
export function keyOperands(contents: RegisterContents, register: Register, words = WORDS): Operand[] {
  const parts: Operand[] = [];
  const start = wordOf(register) ?? WORDS;
  let serial = -1;
  for (let word = start; word < start + words; ) {
    const stored = contents.words.get(word);
    if (!stored || stored.serial < serial) break;
    parts.push(stored.operand);
    serial = stored.serial;
    word += stored.words;
  }
  return parts;
}
