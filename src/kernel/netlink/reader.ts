import { HEADER_LENGTH } from './writer.ts';

/** A received message. `body` starts after the header. It is valid until the socket receives again. */
export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly body: Buffer;
}

/** The messages of a datagram. A message that is cut short or has a wrong length ends the iteration. Never throws. */
export function* readMessages(datagram: Buffer): Generator<Message> {
  for (let at = 0; at + HEADER_LENGTH <= datagram.length; ) {
    const length = datagram.readUInt32LE(at);
    if (length < HEADER_LENGTH || at + length > datagram.length) return;
    yield {
      type: datagram.readUInt16LE(at + 4),
      flags: datagram.readUInt16LE(at + 6),
      sequence: datagram.readUInt32LE(at + 8),
      body: datagram.subarray(at + HEADER_LENGTH, at + length),
    };
    at += align(length);
  }
}

export interface Attribute {
  readonly type: number;
  readonly value: Buffer;
  /** Where the attribute's header begins in the bytes. */
  readonly offset: number;
}

const TYPE_MASK = 0x3fff;

/** The attributes from `start` on. One that is cut short or has a wrong length ends the iteration. Never throws. */
export function* readAttributes(bytes: Buffer, start = 0): Generator<Attribute> {
  for (let at = start; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < 4 || at + length > bytes.length) return;
    yield {
      type: bytes.readUInt16LE(at + 2) & TYPE_MASK,
      value: bytes.subarray(at + 4, at + length),
      offset: at,
    };
    at += align(length);
  }
}

/** The attributes by type. If several have the same type, the last one counts, as in the kernel. */
export function attributeMap(bytes: Buffer, start = 0): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (const { type, value } of readAttributes(bytes, start)) found.set(type, value);
  return found;
}

// These functions read values of attributes. They return undefined if the value is missing or too short.

export function asU8(value: Buffer | undefined): number | undefined {
  return value && value.length >= 1 ? value[0] : undefined;
}

export function asU16(value: Buffer | undefined): number | undefined {
  return value && value.length >= 2 ? value.readUInt16LE(0) : undefined;
}

export function asU32(value: Buffer | undefined): number | undefined {
  return value && value.length >= 4 ? value.readUInt32LE(0) : undefined;
}

export function asU64(value: Buffer | undefined): bigint | undefined {
  return value && value.length >= 8 ? value.readBigUInt64LE(0) : undefined;
}

export function asU16BE(value: Buffer | undefined): number | undefined {
  return value && value.length >= 2 ? value.readUInt16BE(0) : undefined;
}

export function asU32BE(value: Buffer | undefined): number | undefined {
  return value && value.length >= 4 ? value.readUInt32BE(0) : undefined;
}

export function asU64BE(value: Buffer | undefined): bigint | undefined {
  return value && value.length >= 8 ? value.readBigUInt64BE(0) : undefined;
}

/** The text up to the first zero byte. */
export function asString(value: Buffer | undefined): string | undefined {
  if (!value) return undefined;
  const end = value.indexOf(0);
  return value.toString('utf8', 0, end < 0 ? value.length : end);
}

/** A copy that stays valid when the receive buffer is overwritten. */
export function asBytes(value: Buffer | undefined): Buffer | undefined {
  return value && Buffer.from(value);
}

export function align(length: number): number {
  return (length + 3) & ~3;
}
