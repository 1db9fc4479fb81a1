import type { Instruction, Label, Note, Part } from './instruction.ts';

/** A program whose maps are not filled in yet. */
export interface Assembled {
  readonly code: Buffer;
  /** Where a map's descriptor belongs, in bytes, and the map's name. */
  readonly references: readonly { readonly at: number; readonly map: string }[];
  /** What the instructions from an index on are for. */
  readonly notes: readonly { readonly index: number; readonly text: string }[];
  readonly listing: readonly string[];
}

export const INSTRUCTION_BYTES = 8;

/** Resolves labels and encodes. Throws if the program names a label that is not there, or has one twice. */
export function assemble(parts: Part): Assembled {
  const { instructions, labels, notes, length } = place(flatten(parts));
  const code = Buffer.alloc(length * INSTRUCTION_BYTES);
  const references: { at: number; map: string }[] = [];
  for (const [index, instruction] of instructions) {
    const at = index * INSTRUCTION_BYTES;
    encode(code, at, instruction, jumpOffset(labels, index, instruction));
    if (instruction.map !== undefined) references.push({ at, map: instruction.map });
  }
  return { code, references, notes, listing: list(instructions, labels, notes) };
}

/** The code with the descriptors of the maps. */
export function withMaps({ code, references }: Assembled, descriptor: (map: string) => number): Buffer {
  const bytes = Buffer.from(code);
  for (const { at, map } of references) bytes.writeInt32LE(descriptor(map), at + 4);
  return bytes;
}

type Flat = Instruction | Label | Note;

function flatten(part: Part): readonly Flat[] {
  return 'kind' in part ? [part] : part.flatMap(flatten);
}

interface Placed {
  readonly instructions: readonly (readonly [index: number, instruction: Instruction])[];
  readonly labels: ReadonlyMap<string, number>;
  readonly notes: Assembled['notes'];
  readonly length: number;
}

function place(parts: readonly Flat[]): Placed {
  const instructions: [number, Instruction][] = [];
  const labels = new Map<string, number>();
  const notes: { index: number; text: string }[] = [];
  let length = 0;
  let pending: string | undefined;
  for (const part of parts) {
    if (part.kind === 'label') {
      if (labels.has(part.name)) throw new Error(`label ${part.name} is there twice`);
      labels.set(part.name, length);
    } else if (part.kind === 'note') {
      pending = part.text;
    } else {
      if (pending !== undefined) notes.push({ index: length, text: pending });
      pending = undefined;
      instructions.push([length, part]);
      length += part.upper === undefined ? 1 : 2;
    }
  }
  return { instructions, labels, notes, length };
}

function jumpOffset(labels: ReadonlyMap<string, number>, index: number, { to, offset, text }: Instruction): number {
  if (to === undefined) return offset;
  const target = labels.get(to);
  if (target === undefined) throw new Error(`${text}: there is no label ${to}`);
  const distance = target - index - 1;
  if (distance !== (distance << 16) >> 16) throw new Error(`${text}: ${distance} instructions are too far`);
  return distance;
}

function encode(code: Buffer, at: number, instruction: Instruction, offset: number): void {
  const { opcode, destination, source, immediate, upper } = instruction;
  code.writeUInt8(opcode, at);
  code.writeUInt8(destination | (source << 4), at + 1);
  code.writeInt16LE(offset, at + 2);
  code.writeInt32LE(immediate, at + 4);
  if (upper !== undefined) code.writeInt32LE(upper, at + INSTRUCTION_BYTES + 4);
}

function list(
  instructions: Placed['instructions'],
  labels: ReadonlyMap<string, number>,
  notes: Assembled['notes'],
): readonly string[] {
  const noted = new Map(notes.map(({ index, text }) => [index, text]));
  const labelled = new Map(Array.from(labels, ([name, index]) => [index, name]));
  return instructions.flatMap(([index, { text }]) => {
    const [note, label] = [noted.get(index), labelled.get(index)];
    return [
      ...(note === undefined ? [] : [`; ${note}`]),
      ...(label === undefined ? [] : [`${label}:`]),
      `${index}: ${text}`,
    ];
  });
}
