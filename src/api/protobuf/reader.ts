import { type FieldProblem, fieldProblem } from '../field-problem.ts';
import { FieldReader } from '../field-reader.ts';
import { isText, nameOf } from './name-cache.ts';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;

/** The key before a field with a length: a text, bytes or a message. */
export const lengthKey = (field: number): number => (field << 3) | LENGTH;
/** The key before a number or a boolean. */
export const varintKey = (field: number): number => (field << 3) | VARINT;

/**
 * Goes through the fields of a protobuf message and makes only the values that the caller reads. It always ends: bytes
 * that cannot be read make it `broken`, and a broken reader has no more fields.
 *
 *     while (reader.next()) {
 *       if (reader.key === NAME) name = reader.string();
 *       else reader.skip();
 *     }
 */
export class ProtobufReader {
  readonly problems: FieldProblem[] = [];
  /** The number and type of the current field. */
  key = 0;
  broken = false;
  readonly #bytes: Buffer;
  #at: number;
  #end: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes);
    this.#at = 0;
    this.#end = bytes.length;
  }

  /** Goes to the next field, which the caller must read or skip. Returns false at the end of the message. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    this.key = this.#unsigned();
    return !this.broken;
  }

  skip(): void {
    switch (this.key & 7) {
      case VARINT:
        this.#unsigned();
        return;
      case FIXED64:
        this.#pass(8);
        return;
      case LENGTH:
        this.#pass(this.#unsigned());
        return;
      case FIXED32:
        this.#pass(4);
        return;
      default:
        this.#break();
    }
  }

  string(): string {
    const end = this.#lengthEnd();
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    return text;
  }

  /** Reads a text that many objects repeat, and shares it between them. */
  name(): string {
    const end = this.#lengthEnd();
    const name = nameOf(this.#bytes, this.#at, end);
    this.#at = end;
    return name;
  }

  /** Returns the one of these texts that the field has, or undefined. Does not make a text for that. */
  oneOf(texts: readonly string[]): string | undefined {
    const end = this.#lengthEnd();
    let found: string | undefined;
    for (const text of texts) if (isText(text, this.#bytes, this.#at, end)) found = text;
    this.#at = end;
    return found;
  }

  /** Returns the bytes of the field as a text to compare by, or undefined if it is too long. Stays at the field. */
  peek(maxLength: number): string | undefined {
    const start = this.#at;
    const end = this.#lengthEnd();
    if (this.broken) return undefined;
    const bytes = end - this.#at > maxLength ? undefined : this.#bytes.toString('latin1', this.#at, end);
    this.#at = start;
    return bytes;
  }

  bytes(): Buffer {
    const end = this.#lengthEnd();
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  boolean(): boolean {
    return this.#unsigned() !== 0;
  }

  /** A negative number has ten bytes, of which the low 32 bits count. */
  int32(): number {
    let value = 0;
    for (let shift = 0; shift < 7 * MAX_VARINT_BYTES; shift += 7) {
      const byte = this.#byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    this.#break();
    return 0;
  }

  int64(): bigint {
    let value = 0n;
    for (let shift = 0; shift < 7 * MAX_VARINT_BYTES; shift += 7) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(shift);
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    this.#break();
    return 0n;
  }

  /** Reads a message. `name` and `index` give the path of its problems: `ports[3]`. */
  message<T>(decode: (reader: ProtobufReader) => T, name?: string, index?: number): T {
    const outer = this.#end;
    const known = this.problems.length;
    this.#end = this.#lengthEnd();
    const value = decode(this);
    this.#at = this.#end;
    this.#end = outer;
    if (this.broken) this.#at = outer;
    if (this.problems.length > known && name !== undefined) this.#prefix(known, name, index);
    return value;
  }

  /** Adds the problems that the reader of JSON finds, so that both have the same messages. */
  addProblems(check: (fields: FieldReader) => unknown): void {
    const fields = new FieldReader();
    check(fields);
    this.problems.push(...fields.problems);
  }

  #prefix(known: number, name: string, index: number | undefined): void {
    const start = index === undefined ? [name] : [name, index];
    const inner = this.problems.splice(known);
    this.problems.push(...inner.map(({ path, message }) => fieldProblem([...start, ...path], message)));
  }

  #lengthEnd(): number {
    const end = this.#unsigned() + this.#at;
    if (end <= this.#end) return end;
    this.#break();
    return this.#at;
  }

  #pass(length: number): void {
    this.#at += length;
    if (this.#at > this.#end) this.#break();
  }

  #unsigned(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    this.#break();
    return 0;
  }

  #byte(): number {
    if (this.#at < this.#end) return this.#bytes[this.#at++] ?? 0;
    this.#break();
    return 0;
  }

  #break(): void {
    this.broken = true;
    this.#at = this.#end;
  }
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
