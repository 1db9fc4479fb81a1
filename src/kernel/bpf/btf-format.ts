import { struct, u8, u16, u32 } from './struct.ts';

/** Type information (BTF) as in `linux/btf.h`: a header, then types, then texts. */

export const MAGIC = 0xeb9f;
export const VERSION = 1;

export const Header = struct({
  magic: u16,
  version: u8,
  flags: u8,
  headerSize: u32,
  typesOffset: u32,
  typesSize: u32,
  textsOffset: u32,
  textsSize: u32,
});

/** Kinds of types. */
export const Kind = {
  INT: 1,
  POINTER: 2,
  ARRAY: 3,
  STRUCT: 4,
  UNION: 5,
  ENUM: 6,
  TYPEDEF: 8,
  VOLATILE: 9,
  CONST: 10,
  RESTRICT: 11,
  FUNC: 12,
  FUNC_PROTO: 13,
  VAR: 14,
  DATASEC: 15,
  DECL_TAG: 17,
  TYPE_TAG: 18,
  ENUM64: 19,
} as const;

/** Every type has three words: the offset of its name, kind and count, and a size or the number of another type. */
export const TYPE_WORDS = 3;
/** A member of a structure: name, type, offset in bits. */
export const MEMBER_WORDS = 3;

/** How many words follow the first three. Kinds that are not here have none. */
const MORE_WORDS: Readonly<Partial<Record<number, (count: number) => number>>> = {
  [Kind.INT]: () => 1,
  [Kind.ARRAY]: () => 3,
  [Kind.STRUCT]: count => MEMBER_WORDS * count,
  [Kind.UNION]: count => MEMBER_WORDS * count,
  [Kind.ENUM]: count => 2 * count,
  [Kind.FUNC_PROTO]: count => 2 * count,
  [Kind.VAR]: () => 1,
  [Kind.DATASEC]: count => 3 * count,
  [Kind.DECL_TAG]: () => 1,
  [Kind.ENUM64]: count => 3 * count,
};

/** Only structures, enumerations and the like use `count`. Functions keep their linkage there. */
export function kindWord(kind: number, count = 0): number {
  return (kind << 24) | count;
}

export function kindOf(word: number): number {
  return (word >>> 24) & 0x1f;
}

export function countOf(word: number): number {
  return word & 0xffff;
}

/** All words of a type, by its second word. */
export function wordsOf(word: number): number {
  return TYPE_WORDS + (MORE_WORDS[kindOf(word)]?.(countOf(word)) ?? 0);
}
