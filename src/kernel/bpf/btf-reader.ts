import { countOf, Header, Kind, kindOf, MAGIC, MEMBER_WORDS, TYPE_WORDS, wordsOf } from './btf-format.ts';
import { bytesOf } from './struct.ts';
import { StructBytes } from './struct-bytes.ts';

const POINTER_BYTES = 8;
/** No kernel nests types deeper. A chain that never ends would hang the reader. */
const MAX_DEPTH = 32;

/** Types that only add something to another type. */
const MODIFIERS: ReadonlySet<number> = new Set([Kind.TYPEDEF, Kind.VOLATILE, Kind.CONST, Kind.RESTRICT, Kind.TYPE_TAG]);

/** Where a member of a structure is, in bytes. */
export interface MemberPlace {
  readonly offset: number;
  readonly size: number;
}

/** Finds functions and members of structures in type information. */
export class BtfReader {
  readonly #words: Uint32Array;
  readonly #texts: Buffer;
  /** Where the types begin in `#words`, by number. Type 0 is `void`. */
  readonly #starts: readonly number[];

  private constructor(words: Uint32Array, texts: Buffer) {
    this.#words = words;
    this.#texts = texts;
    this.#starts = startsOf(words);
  }

  /** Returns undefined if the bytes are something else. */
  static of(data: Buffer): BtfReader | undefined {
    if (data.length < bytesOf(Header)) return undefined;
    const header = new StructBytes(Header, undefined, data);
    if (header.number('magic') !== MAGIC) return undefined;
    const start = header.number('headerSize');
    const part = (at: number, size: number) => data.subarray(start + at, start + at + size);
    const types = part(header.number('typesOffset'), header.number('typesSize'));
    const words = new Uint32Array(new Uint8Array(types.subarray(0, types.length & ~3)).buffer);
    return new BtfReader(words, part(header.number('textsOffset'), header.number('textsSize')));
  }

  /** The number of a function. */
  functionId(name: string): number | undefined {
    return this.#find(Kind.FUNC, name);
  }

  /** A member of a structure, also of one inside: `member('sock', '__sk_common', 'skc_family')`. */
  member(structName: string, ...path: readonly string[]): MemberPlace | undefined {
    let type = this.#find(Kind.STRUCT, structName);
    let offset = 0;
    for (const name of path) {
      const text = this.#textOffset(name);
      const found = type === undefined || text === undefined ? undefined : this.#memberOf(type, text);
      if (!found) return undefined;
      type = found.type;
      offset += found.offset;
    }
    return type === undefined ? undefined : { offset, size: this.#size(type) };
  }

  #find(kind: number, name: string): number | undefined {
    const text = this.#textOffset(name);
    if (text === undefined) return undefined;
    const id = this.#starts.findIndex((at, i) => i > 0 && this.#words[at] === text && this.#kind(i) === kind);
    return id < 0 ? undefined : id;
  }

  /** Every text is there once, so all types with this name have this offset. */
  #textOffset(text: string): number | undefined {
    const before = this.#texts.indexOf(`\0${text}\0`, 0, 'latin1');
    return before < 0 ? undefined : before + 1;
  }

  /** Looks into structures and unions without a name, as C does. */
  #memberOf(structType: number, name: number, depth = 0): { type: number; offset: number } | undefined {
    const id = this.#withoutModifiers(structType);
    const kind = this.#kind(id);
    if (depth > MAX_DEPTH || (kind !== Kind.STRUCT && kind !== Kind.UNION)) return undefined;
    const first = this.#start(id) + TYPE_WORDS;
    const end = first + countOf(this.#word(id, 1)) * MEMBER_WORDS;
    for (let at = first; at < end; at += MEMBER_WORDS) {
      const [memberName = 0, type = 0, bits = 0] = this.#words.subarray(at, at + MEMBER_WORDS);
      // The upper byte is the width of a bit field.
      const offset = (bits & 0xff_ffff) / 8;
      if (memberName === name) return { type, offset };
      const inside = memberName === 0 ? this.#memberOf(type, name, depth + 1) : undefined;
      if (inside) return { type: inside.type, offset: offset + inside.offset };
    }
    return undefined;
  }

  #size(type: number, depth = 0): number {
    const id = this.#withoutModifiers(type);
    const kind = this.#kind(id);
    if (kind === Kind.POINTER) return POINTER_BYTES;
    if (kind !== Kind.ARRAY) return this.#word(id, 2);
    return depth > MAX_DEPTH ? 0 : this.#size(this.#word(id, 3), depth + 1) * this.#word(id, 5);
  }

  #withoutModifiers(type: number): number {
    let id = type;
    for (let depth = 0; depth < MAX_DEPTH && MODIFIERS.has(this.#kind(id)); depth++) id = this.#word(id, 2);
    return id;
  }

  #kind(id: number): number {
    return kindOf(this.#word(id, 1));
  }

  #word(id: number, index: number): number {
    return this.#words[this.#start(id) + index] ?? 0;
  }

  #start(id: number): number {
    return this.#starts[id] ?? this.#words.length;
  }
}

function startsOf(words: Uint32Array): readonly number[] {
  // `void` has no words: its start is past the end.
  const starts = [words.length];
  for (let at = 0; at < words.length; at += wordsOf(words[at + 1] ?? 0)) starts.push(at);
  return starts;
}
