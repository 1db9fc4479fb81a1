import { addressOf } from '../libc.ts';
import { bytesOf, type Field, type Struct } from './struct.ts';

/** A number, a text for an array of bytes, or a buffer whose address the kernel gets. */
export type FieldValue = number | bigint | string | Uint8Array | undefined;
export type FieldValues<Name extends string> = Readonly<Partial<Record<Name, FieldValue>>>;

/** The bytes of a structure, by the names of its fields. Fields without a value are zero. */
export class StructBytes<Name extends string = string> {
  readonly bytes: Buffer;
  readonly #type: Struct<Name>;
  /** Buffers whose addresses the structure has. They live as long as the structure. */
  readonly #pointedTo: Uint8Array[] = [];

  /** `bytes` has at least the length of the structure. */
  constructor(type: Struct<Name>, values?: FieldValues<Name>, bytes: Buffer = Buffer.alloc(bytesOf(type))) {
    this.#type = type;
    this.bytes = bytes;
    if (values) for (const name in values) this.#write(type[name], values[name]);
  }

  number(name: Name): number {
    const { offset, size } = this.#type[name];
    return size === 8 ? Number(this.bytes.readBigUInt64LE(offset)) : this.bytes.readUIntLE(offset, size);
  }

  big(name: Name): bigint {
    return this.bytes.readBigUInt64LE(this.#type[name].offset);
  }

  /** An array of bytes. */
  array(name: Name): Buffer {
    const { offset, size, count } = this.#type[name];
    return this.bytes.subarray(offset, offset + size * count);
  }

  /** The text in an array of bytes, up to the first zero. */
  text(name: Name): string {
    return untilZero(this.array(name));
  }

  #write(field: Field, value: FieldValue): void {
    const { offset, size, count } = field;
    if (typeof value === 'number' && size !== 8) this.bytes.writeUIntLE(value, offset, size);
    else if (typeof value === 'number' || typeof value === 'bigint') this.bytes.writeBigUInt64LE(BigInt(value), offset);
    else if (typeof value === 'string') this.bytes.write(value.slice(0, size * count - 1), offset, 'latin1');
    else if (value && value.length > 0) {
      this.#pointedTo.push(value);
      this.bytes.writeBigUInt64LE(addressOf(value), offset);
    }
  }
}

/** The text before the first zero byte. */
export function untilZero(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
}
