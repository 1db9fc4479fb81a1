import { Header, Kind, kindWord, MAGIC, VERSION } from './btf-format.ts';
import { bytesOf, type Field, type Struct } from './struct.ts';
import { StructBytes } from './struct-bytes.ts';

const GLOBAL_LINKAGE = 1;
const SIGNED = 1 << 24;

/** Writes type information: as much as maps and programs here need. Types have numbers from 1 on. */
export class BtfWriter {
  readonly #types: Buffer[] = [];
  readonly #texts = new Map<string, number>([['', 0]]);
  #textBytes = 1;

  /** The offset of a text. */
  text(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const offset = this.#textBytes;
    this.#texts.set(text, offset);
    this.#textBytes += Buffer.byteLength(text) + 1;
    return offset;
  }

  /** Returns the number of the type, as the functions below do. */
  int(name: string, size: number, isSigned = false): number {
    return this.#add(this.text(name), kindWord(Kind.INT), size, (isSigned ? SIGNED : 0) | (size * 8));
  }

  array(type: number, indexType: number, count: number): number {
    return this.#add(0, kindWord(Kind.ARRAY), 0, type, indexType, count);
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
    return this.#add(this.text(name), kindWord(Kind.STRUCT, members.length), bytesOf(type), ...members.flat());
  }

  /** A function without parameters. */
  func(name: string, returns: number): number {
    const prototype = this.#add(0, kindWord(Kind.FUNC_PROTO), returns);
    return this.#add(this.text(name), kindWord(Kind.FUNC, GLOBAL_LINKAGE), prototype);
  }

  bytes(): Buffer {
    const types = Buffer.concat(this.#types);
    const texts = Buffer.from([...this.#texts.keys()].map(text => `${text}\0`).join(''));
    const header = new StructBytes(Header, {
      magic: MAGIC,
      version: VERSION,
      headerSize: bytesOf(Header),
      typesSize: types.length,
      textsOffset: types.length,
      textsSize: texts.length,
    });
    return Buffer.concat([header.bytes, types, texts]);
  }

  #add(...words: number[]): number {
    const bytes = Buffer.alloc(words.length * 4);
    for (const [i, word] of words.entries()) bytes.writeUInt32LE(word >>> 0, i * 4);
    this.#types.push(bytes);
    return this.#types.length;
  }
}
