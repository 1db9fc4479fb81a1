import { readFileSync } from 'node:fs';
import { Kind } from './btf.ts';

const KERNEL_BTF = '/sys/kernel/btf/vmlinux';

/** How many words follow the three that every type has, by kind. Kinds that are not here have none. */
const EXTRA_WORDS: Readonly<Partial<Record<number, (count: number) => number>>> = {
  [Kind.INT]: () => 1,
  [Kind.ARRAY]: () => 3,
  [Kind.STRUCT]: count => 3 * count,
  [Kind.UNION]: count => 3 * count,
  [Kind.ENUM]: count => 2 * count,
  [Kind.FUNC_PROTO]: count => 2 * count,
  [Kind.VAR]: () => 1,
  [Kind.DATASEC]: count => 3 * count,
  [Kind.DECL_TAG]: () => 1,
  [Kind.ENUM64]: count => 3 * count,
};

const TYPE_WORDS = 3;
const MEMBER_WORDS = 3;
const POINTER_BYTES = 8;

/** Where a member of a structure is, in bytes. */
export interface MemberPlace {
  readonly offset: number;
  readonly size: number;
}

/** The types of the running kernel, which differ from kernel to kernel. They take some megabytes: keep what is found. */
export class KernelTypes {
  readonly #data: Buffer;
  readonly #words: Uint32Array;
  /** Where the types begin in `#words`, by number. Type 0 is `void`. */
  readonly #starts: readonly number[];
  readonly #strings: number;

  /** Reads the kernel's type information (BTF). Throws if the kernel has none, or if the bytes are something else. */
  constructor(data: Buffer = readFileSync(KERNEL_BTF)) {
    const header = data.readUInt32LE(4);
    const [types, length] = [header + data.readUInt32LE(8), data.readUInt32LE(12)];
    this.#data = data;
    this.#words = new Uint32Array(new Uint8Array(data.subarray(types, types + length)).buffer);
    this.#strings = header + data.readUInt32LE(16);
    this.#starts = startsOf(this.#words);
  }

  /** The number of a function. Iterators name the kernel's function that they implement. */
  functionId(name: string): number | undefined {
    return this.#find(Kind.FUNC, name);
  }

  /** A member of a structure, also of one inside: `member('sock', '__sk_common', 'skc_family')`. */
  member(structName: string, ...path: readonly string[]): MemberPlace | undefined {
    let type = this.#find(Kind.STRUCT, structName);
    let offset = 0;
    for (const name of path) {
      const found = type === undefined ? undefined : this.#memberOf(type, this.#textOffset(name));
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

  /** Every text is there once, so types with this name have this number. */
  #textOffset(text: string): number | undefined {
    const at = this.#data.indexOf(`\0${text}\0`, this.#strings, 'latin1');
    return at < 0 ? undefined : at + 1 - this.#strings;
  }

  /** Looks into structures and unions without a name as C does. */
  #memberOf(structType: number, name: number | undefined): { type: number; offset: number } | undefined {
    const id = this.#withoutModifiers(structType);
    if (name === undefined || (this.#kind(id) !== Kind.STRUCT && this.#kind(id) !== Kind.UNION)) return undefined;
    const first = this.#start(id) + TYPE_WORDS;
    const count = this.#word(id, 1) & 0xffff;
    for (let at = first; at < first + count * MEMBER_WORDS; at += MEMBER_WORDS) {
      const [memberName = 0, type = 0, bits = 0] = this.#words.subarray(at, at + MEMBER_WORDS);
      // The upper byte is the width of a bit field.
      const offset = (bits & 0xff_ffff) / 8;
      if (memberName === name) return { type, offset };
      const inside = memberName === 0 ? this.#memberOf(type, name) : undefined;
      if (inside) return { type: inside.type, offset: offset + inside.offset };
    }
    return undefined;
  }

  #size(type: number): number {
    const id = this.#withoutModifiers(type);
    if (this.#kind(id) === Kind.POINTER) return POINTER_BYTES;
    if (this.#kind(id) === Kind.ARRAY) return this.#size(this.#word(id, 3)) * this.#word(id, 5);
    return this.#word(id, 2);
  }

  #withoutModifiers(type: number): number {
    let id = type;
    while (MODIFIERS.has(this.#kind(id))) id = this.#word(id, 2);
    return id;
  }

  #kind(id: number): number {
    return (this.#word(id, 1) >>> 24) & 0x1f;
  }

  #word(id: number, index: number): number {
    return this.#words[this.#start(id) + index] ?? 0;
  }

  #start(id: number): number {
    return this.#starts[id] ?? this.#words.length;
  }
}

const MODIFIERS: ReadonlySet<number> = new Set([Kind.TYPEDEF, Kind.VOLATILE, Kind.CONST, Kind.RESTRICT, Kind.TYPE_TAG]);

function startsOf(words: Uint32Array): readonly number[] {
  // `void` has no words: its start is past the end.
  const starts = [words.length];
  for (let at = 0; at < words.length; ) {
    starts.push(at);
    const information = words[at + 1] ?? 0;
    at += TYPE_WORDS + (EXTRA_WORDS[(information >>> 24) & 0x1f]?.(information & 0xffff) ?? 0);
  }
  return starts;
}
