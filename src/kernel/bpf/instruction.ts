import type { Place, Register } from './place.ts';
import type { Size } from './struct.ts';

/** One instruction. `wide` ones take the room of two. */
export interface Instruction {
  readonly kind: 'instruction';
  readonly opcode: number;
  readonly destination: number;
  readonly source: number;
  readonly offset: number;
  readonly immediate: number;
  /** The upper half of a 64-bit number. Only wide instructions have it. */
  readonly upper?: number | undefined;
  /** The label that a jump leads to. */
  readonly to?: string | undefined;
  /** The map whose descriptor the immediate becomes. */
  readonly map?: string | undefined;
  /** As the kernel prints it, with labels and names of maps. */
  readonly text: string;
}

export interface Label {
  readonly kind: 'label';
  readonly name: string;
}

/** What the next instructions are for. The verifier's log and bpftool show it as the source line. */
export interface Note {
  readonly kind: 'note';
  readonly text: string;
}

export type Part = Instruction | Label | Note | readonly Part[];

const SIZES: Readonly<Record<Size, number>> = { 1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18 };
const TYPES: Readonly<Record<Size, string>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

export const OPERATORS = {
  '+': 0x00,
  '-': 0x10,
  '*': 0x20,
  '/': 0x30,
  '|': 0x40,
  '&': 0x50,
  '<<': 0x60,
  '>>': 0x70,
  '%': 0x90,
} as const;
export const COMPARISONS = { '==': 0x10, '>': 0x20, '>=': 0x30, '&': 0x40, '!=': 0x50, '<': 0xa0, '<=': 0xb0 } as const;

/** Functions of the kernel that programs may call, by their numbers in `linux/bpf.h`. */
export const HELPERS = {
  map_lookup_elem: 1,
  map_update_elem: 2,
  map_delete_elem: 3,
  ktime_get_ns: 5,
  get_prandom_u32: 7,
  get_socket_cookie: 46,
  sk_storage_get: 107,
  get_netns_cookie: 122,
  ktime_get_boot_ns: 125,
  seq_write: 127,
  set_retval: 187,
} as const;

export type Operator = keyof typeof OPERATORS;
export type Comparison = keyof typeof COMPARISONS;
export type Helper = keyof typeof HELPERS;

export function set(to: Register, from: Register | number): Instruction {
  if (typeof from === 'number') return simple(0xb7, { to, immediate: from, text: `${name(to)} = ${from}` });
  return simple(0xbf, { to, from, text: `${name(to)} = ${name(from)}` });
}

/** A 64-bit number. */
export function setWide(to: Register, value: bigint): Instruction {
  return wide(to, 0, value, `${name(to)} = ${hex(BigInt.asUintN(64, value))}`);
}

/** A map, for a helper. */
export function setMap(to: Register, map: string): Instruction {
  return { ...wide(to, 1, 0n, `${name(to)} = map[${map}]`), map };
}

export function alu(to: Register, operator: Operator, from: Register | number): Instruction {
  const opcode = OPERATORS[operator];
  if (typeof from === 'number') {
    return simple(0x07 | opcode, { to, immediate: from, text: `${name(to)} ${operator}= ${from}` });
  }
  return simple(0x0f | opcode, { to, from, text: `${name(to)} ${operator}= ${name(from)}` });
}

/** On the lower halves. The upper half becomes zero. */
export function alu32(to: Register, operator: Operator, from: Register | number): Instruction {
  const opcode = OPERATORS[operator];
  if (typeof from === 'number') {
    return simple(0x04 | opcode, { to, immediate: from, text: `${half(to)} ${operator}= ${from}` });
  }
  return simple(0x0c | opcode, { to, from, text: `${half(to)} ${operator}= ${half(from)}` });
}

export function load(to: Register, place: Place): Instruction {
  const { base, offset, size } = place;
  return simple(0x61 | SIZES[size], { to, from: base, offset, text: `${name(to)} = ${memory(place)}` });
}

export function store(place: Place, from: Register | number): Instruction {
  const { base, offset, size } = place;
  if (typeof from === 'number') {
    return simple(0x62 | SIZES[size], { to: base, offset, immediate: from, text: `${memory(place)} = ${from}` });
  }
  return simple(0x63 | SIZES[size], { to: base, from, offset, text: `${memory(place)} = ${name(from)}` });
}

/** Adds to a number in memory, whatever other processors do. */
export function addAtomic(place: Place, from: Register): Instruction {
  const { base, offset, size } = place;
  const text = `lock ${memory(place)} += ${name(from)}`;
  return simple(0xc3 | SIZES[size], { to: base, from, offset, text });
}

export function go(to: string): Instruction {
  return { ...simple(0x05, { text: `goto ${to}` }), to };
}

export function when(a: Register, comparison: Comparison, b: Register | number, to: string): Instruction {
  const opcode = COMPARISONS[comparison];
  if (typeof b === 'number') {
    return {
      ...simple(0x05 | opcode, { to: a, immediate: b, text: `if ${name(a)} ${comparison} ${hex(b >>> 0)} goto ${to}` }),
      to,
    };
  }
  return {
    ...simple(0x0d | opcode, { to: a, from: b, text: `if ${name(a)} ${comparison} ${name(b)} goto ${to}` }),
    to,
  };
}

export function call(helper: Helper): Instruction {
  return simple(0x85, { immediate: HELPERS[helper], text: `call bpf_${helper}#${HELPERS[helper]}` });
}

export function exit(): Instruction {
  return simple(0x95, { text: 'exit' });
}

export function label(name: string): Label {
  return { kind: 'label', name };
}

export function note(text: string): Note {
  return { kind: 'note', text };
}

interface Operands {
  readonly to?: Register;
  readonly from?: Register;
  readonly offset?: number;
  readonly immediate?: number;
  readonly text: string;
}

function simple(opcode: number, { to, from, offset = 0, immediate = 0, text }: Operands): Instruction {
  const [destination, source] = [to?.register ?? 0, from?.register ?? 0];
  return { kind: 'instruction', opcode, destination, source, offset, immediate, text };
}

function wide(to: Register, source: number, value: bigint, text: string): Instruction {
  const [immediate, upper] = [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
  return { kind: 'instruction', opcode: 0x18, destination: to.register, source, offset: 0, immediate, upper, text };
}

function name({ register }: Register): string {
  return `r${register}`;
}

function half({ register }: Register): string {
  return `w${register}`;
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

function memory({ base, offset, size }: Place): string {
  return `*(${TYPES[size]} *)(${name(base)} ${offset < 0 ? '-' : '+'}${Math.abs(offset)})`;
}
