/** Message flags, as in `linux/netlink.h`. */
export const Flag = {
  REQUEST: 0x1,
  MULTI: 0x2,
  ACK: 0x4,
  ECHO: 0x8,
  /** In a get request: return all objects. */
  DUMP: 0x300,
  /** In a new request: replace an existing object. */
  REPLACE: 0x100,
  /** In a new request: fail if the object exists. */
  EXCL: 0x200,
  CREATE: 0x400,
  APPEND: 0x800,
  /** In a delete request: do not delete children. */
  NONREC: 0x100,
} as const;

export const HEADER_LENGTH = 16;
const ATTRIBUTE_HEADER = 4;
const NESTED = 0x8000;

/** The longest value of an attribute, including nested attributes. The length field has 16 bits. */
export const MAX_ATTRIBUTE = 0xffff - ATTRIBUTE_HEADER;

/**
 * Writes netlink messages one after another into one growing buffer, so that a single send can carry many of them.
 * Attribute methods append to the message that was begun last. `…BE` methods write network byte order, which nfnetlink
 * expects. The others write the machine's byte order, which rtnetlink and generic netlink expect.
 */
export class MessageWriter {
  #buffer: Buffer;
  #length = 0;
  #message = 0;
  #count = 0;

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  get messageCount(): number {
    return this.#count;
  }

  /** Begins a message. Call `end` before the next `begin`. The kernel's answer carries the same sequence number. */
  begin(type: number, flags: number, sequence: number): this {
    this.#reserve(HEADER_LENGTH);
    const at = this.#length;
    this.#message = at;
    this.#buffer.writeUInt16LE(type, at + 4);
    this.#buffer.writeUInt16LE(flags, at + 6);
    this.#buffer.writeUInt32LE(sequence, at + 8);
    this.#buffer.writeUInt32LE(0, at + 12);
    this.#length = at + HEADER_LENGTH;
    return this;
  }

  end(): this {
    this.#buffer.writeUInt32LE(this.#length - this.#message, this.#message);
    this.#count++;
    return this;
  }

  /** The bytes of the current message so far, with its header. */
  get messageLength(): number {
    return this.#length - this.#message;
  }

  /** Writes the fixed structure that follows the header (`nfgenmsg`, `ifinfomsg`, …), padded to four bytes. */
  struct(bytes: Uint8Array): this {
    this.#reserve(bytes.length + 3);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
    return this.#pad();
  }

  u8(type: number, value: number): this {
    this.#attribute(type, 1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
    return this.#pad();
  }

  u16(type: number, value: number): this {
    this.#attribute(type, 2);
    this.#buffer.writeUInt16LE(value, this.#length);
    this.#length += 2;
    return this.#pad();
  }

  u32(type: number, value: number): this {
    this.#attribute(type, 4);
    this.#buffer.writeUInt32LE(value >>> 0, this.#length);
    this.#length += 4;
    return this;
  }

  u64(type: number, value: bigint): this {
    this.#attribute(type, 8);
    this.#buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
    this.#length += 8;
    return this;
  }

  u16BE(type: number, value: number): this {
    this.#attribute(type, 2);
    this.#buffer.writeUInt16BE(value, this.#length);
    this.#length += 2;
    return this.#pad();
  }

  u32BE(type: number, value: number): this {
    this.#attribute(type, 4);
    this.#buffer.writeUInt32BE(value >>> 0, this.#length);
    this.#length += 4;
    return this;
  }

  u64BE(type: number, value: bigint): this {
    this.#attribute(type, 8);
    this.#buffer.writeBigUInt64BE(BigInt.asUintN(64, value), this.#length);
    this.#length += 8;
    return this;
  }

  /** Writes a string with its terminating zero byte. */
  string(type: number, value: string): this {
    const length = Buffer.byteLength(value) + 1;
    this.#attribute(type, length);
    this.#buffer.write(value, this.#length);
    this.#buffer[this.#length + length - 1] = 0;
    this.#length += length;
    return this.#pad();
  }

  data(type: number, value: Uint8Array): this {
    this.#attribute(type, value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
    return this.#pad();
  }

  /** Writes an attribute without a value. Its presence is the information. */
  flag(type: number): this {
    this.#attribute(type, 0);
    return this;
  }

  /** Begins a nested attribute. The caller passes the returned offset to `close`. */
  nest(type: number): number {
    const at = this.#length;
    this.#attribute(type | NESTED, 0);
    return at;
  }

  close(nest: number): this {
    const length = this.#length - nest;
    if (length > 0xffff)
      throw new RangeError(`a nested attribute of ${length} bytes exceeds netlink's limit of 64 KiB`);
    this.#buffer.writeUInt16LE(length, nest);
    return this;
  }

  #attribute(type: number, valueLength: number): void {
    if (valueLength > MAX_ATTRIBUTE)
      throw new RangeError(`an attribute of ${valueLength} bytes exceeds netlink's limit of 64 KiB`);
    this.#reserve(ATTRIBUTE_HEADER + valueLength + 3);
    this.#buffer.writeUInt16LE(ATTRIBUTE_HEADER + valueLength, this.#length);
    this.#buffer.writeUInt16LE(type, this.#length + 2);
    this.#length += ATTRIBUTE_HEADER;
  }

  #pad(): this {
    while (this.#length & 3) this.#buffer[this.#length++] = 0;
    return this;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + more));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
