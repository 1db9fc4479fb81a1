import { bytesOf, type Field, type Struct } from './struct.ts';
import { Attributes, bpfError, tryBpf } from './system-call.ts';

/** Kinds of types as in `linux/btf.h`. */
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

const MAGIC = 0xeb9f;
const HEADER_BYTES = 24;
const LOG_BYTES = 1 << 16;

/** Writes type information (BTF): as much as maps and programs here need. */
export class BtfWriter {
  readonly #types: Buffer[] = [];
  readonly #strings = new Map<string, number>([['', 0]]);
  #stringBytes = 1;

  /** The offset of a text. */
  text(text: string): number {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    const offset = this.#stringBytes;
    this.#strings.set(text, offset);
    this.#stringBytes += Buffer.byteLength(text) + 1;
    return offset;
  }

  /** Each of these returns the number of the type. */
  int(name: string, size: number, isSigned = false): number {
    return this.#add(this.text(name), Kind.INT << 24, size, ((isSigned ? 1 : 0) << 24) | (size * 8));
  }

  array(type: number, indexType: number, count: number): number {
    return this.#add(0, Kind.ARRAY << 24, 0, type, indexType, count);
  }

  struct(name: string, type: Struct): number {
    const int = this.int('u32', 4);
    const numbers = new Map<number, number>([[4, int]]);
    const numberType = (size: number) => {
      const known = numbers.get(size) ?? this.int(`u${size * 8}`, size);
      numbers.set(size, known);
      return known;
    };
    const fieldType = ({ size, count }: Field) =>
      count === 1 ? numberType(size) : this.array(numberType(size), int, count);
    const members = Object.values(type).map(field => [this.text(field.name), fieldType(field), field.offset * 8]);
    return this.#add(this.text(name), (Kind.STRUCT << 24) | members.length, bytesOf(type), ...members.flat());
  }

  /** A function without parameters. */
  func(name: string, returns: number): number {
    const prototype = this.#add(0, Kind.FUNC_PROTO << 24, returns);
    return this.#add(this.text(name), (Kind.FUNC << 24) | 1, prototype);
  }

  bytes(): Buffer {
    const types = Buffer.concat(this.#types);
    const strings = Buffer.from([...this.#strings.keys()].map(text => `${text}\0`).join(''));
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt16LE(MAGIC, 0);
    header.writeUInt8(1, 2);
    header.writeUInt32LE(HEADER_BYTES, 4);
    header.writeUInt32LE(types.length, 12);
    header.writeUInt32LE(types.length, 16);
    header.writeUInt32LE(strings.length, 20);
    return Buffer.concat([header, types, strings]);
  }

  #add(...words: number[]): number {
    const bytes = Buffer.alloc(words.length * 4);
    for (const [i, word] of words.entries()) bytes.writeUInt32LE(word >>> 0, i * 4);
    this.#types.push(bytes);
    return this.#types.length;
  }
}

/** Hands type information to the kernel. Returns a descriptor. */
export function loadBtf(data: Buffer): number {
  const log = Buffer.alloc(LOG_BYTES);
  const attributes = new Attributes(32).pointer(0, data).pointer(8, log);
  attributes.u32(16, data.length).u32(20, log.length).u32(24, 1);
  const result = tryBpf('BTF_LOAD', attributes);
  if (typeof result === 'number') return result;
  throw bpfError('BTF_LOAD', 'types', result.errno, log.toString('latin1').split('\0')[0]);
}
