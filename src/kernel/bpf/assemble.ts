import type { Instruction, Label, Note, Part } from './instruction.ts';

/** A program whose maps are not filled in yet. */
export interface Assembled {
  readonly code: Buffer;
  /** Where a map's descriptor belongs, in bytes, and the map's name. */
  readonly references: readonly { readonly at: number; readonly map: string }[];
  /** What the instructions from an index on are for. */
  readonly notes: readonly { readonly index: number; readonly text: string }[];
  /** The program as text: notes, labels and numbered instructions. */
  readonly listing: readonly string[];
}

/** A mistake in a program that needs no kernel to be seen. */
export class AssemblyError extends Error {
  override readonly name = 'AssemblyError';
}

export const INSTRUCTION_BYTES = 8;
/** Where an instruction has the descriptor of a map. */
const IMMEDIATE_AT = 4;

/** Resolves labels and encodes. Throws an AssemblyError. */
export function assemble(parts: Part): Assembled {
  const placed = place(flatten(parts));
  const { instructions, notes, length } = placed;
  if (length === 0) throw new AssemblyError('the program has no instruction');
  const code = Buffer.alloc(length * INSTRUCTION_BYTES);
  const references: { at: number; map: string }[] = [];
  for (const numbered of instructions) {
    const at = numbered.index * INSTRUCTION_BYTES;
    encode(code, at, numbered, offsetOf(placed, numbered));
    const { map } = numbered.instruction;
    if (map !== undefined) references.push({ at, map });
  }
  return {
    code,
    references,
    notes,
    // Few callers want the text, and it takes as long as everything else.
    get listing() {
      return list(placed);
    },
  };
}

/** The code with the descriptors of the maps. */
export function withMaps({ code, references }: Assembled, descriptor: (map: string) => number): Buffer {
  const bytes = Buffer.from(code);
  for (const { at, map } of references) bytes.writeInt32LE(descriptor(map), at + IMMEDIATE_AT);
  return bytes;
}

type Flat = Instruction | Label | Note;

function flatten(part: Part, into: Flat[] = []): readonly Flat[] {
  if ('kind' in part) into.push(part);
  else for (const inner of part) flatten(inner, into);
  return into;
}

interface Numbered {
  readonly index: number;
  readonly instruction: Instruction;
}

interface Placed {
  readonly instructions: readonly Numbered[];
  /** The index of the instruction after a label. */
  readonly labels: ReadonlyMap<string, number>;
  readonly notes: Assembled['notes'];
  /** Wide instructions count twice. */
  readonly length: number;
}

function place(parts: readonly Flat[]): Placed {
  const instructions: Numbered[] = [];
  const labels = new Map<string, number>();
  const notes: { index: number; text: string }[] = [];
  let length = 0;
  let pending: string | undefined;
  for (const part of parts) {
    if (part.kind === 'label') {
      define(labels, part.name, length);
    } else if (part.kind === 'note') {
      pending = part.text;
    } else {
      if (pending !== undefined) notes.push({ index: length, text: pending });
      pending = undefined;
      instructions.push({ index: length, instruction: part });
      length += part.upper === undefined ? 1 : 2;
    }
  }
  return { instructions, labels, notes, length };
}

function define(labels: Map<string, number>, name: string, index: number): void {
  const earlier = labels.get(name);
  if (earlier !== undefined) {
    throw new AssemblyError(`label ${name} is there twice: before instruction ${earlier} and before ${index}`);
  }
  labels.set(name, index);
}

/** The offset in memory, or how many instructions a jump passes over. */
function offsetOf({ labels, length }: Placed, numbered: Numbered): number {
  const { index, instruction } = numbered;
  if (instruction.to === undefined) return inRange(numbered, 'offset', instruction.offset, 16);
  const target = labels.get(instruction.to);
  if (target === undefined) throw mistake(numbered, `there is no label ${instruction.to}`);
  if (target === length) throw mistake(numbered, `no instruction follows label ${instruction.to}`);
  return inRange(numbered, `distance to label ${instruction.to}`, target - index - 1, 16);
}

function encode(code: Buffer, at: number, numbered: Numbered, offset: number): void {
  const { opcode, destination, source, immediate, upper } = numbered.instruction;
  code.writeUInt8(opcode, at);
  code.writeUInt8(destination | (source << 4), at + 1);
  code.writeInt16LE(offset, at + 2);
  code.writeInt32LE(inRange(numbered, 'number', immediate, 32), at + IMMEDIATE_AT);
  if (upper !== undefined) code.writeInt32LE(upper, at + INSTRUCTION_BYTES + IMMEDIATE_AT);
}

function inRange(numbered: Numbered, what: string, value: number, bits: 16 | 32): number {
  const limit = 2 ** (bits - 1);
  if (Number.isInteger(value) && value >= -limit && value < limit) return value;
  throw mistake(numbered, `the ${what} is ${value}, which is no signed number of ${bits} bits`);
}

function mistake({ index, instruction }: Numbered, reason: string): AssemblyError {
  return new AssemblyError(`instruction ${index}, ${instruction.text}: ${reason}`);
}

function list({ instructions, labels, notes }: Placed): readonly string[] {
  const noted = new Map(notes.map(({ index, text }) => [index, `; ${text}`]));
  const labelled = new Map<number, string[]>();
  for (const [name, index] of labels) labelled.set(index, [...(labelled.get(index) ?? []), `${name}:`]);
  return instructions.flatMap(({ index, instruction }) => {
    const note = noted.get(index);
    return [...(labelled.get(index) ?? []), ...(note === undefined ? [] : [note]), `${index}: ${instruction.text}`];
  });
}
