import type { MessageWriter } from '../netlink/index.ts';

/**
 * Data that nft stores with an object for its own use, such as the comment. Each value has one byte for its type and
 * one byte for its length. The kernel stores the bytes and does not interpret them.
 */
export type Userdata = ReadonlyMap<number, Buffer>;

/** nft does not accept longer comments, so they are cut. */
export const MAX_COMMENT_BYTES = 128;
/** The type of the comment in the userdata of tables, chains, rules and elements. Sets have another type. */
const COMMENT = 0;

/** Encodes values in the given order. A number becomes four bytes. */
export function encodeUserdata(values: readonly (readonly [type: number, value: Buffer | number])[]): Buffer {
  const parts: Buffer[] = [];
  for (const [type, value] of values) {
    const bytes = typeof value === 'number' ? u32(value) : value;
    parts.push(Buffer.from([type, bytes.length]), bytes);
  }
  return Buffer.concat(parts);
}

/** Decodes values. A value that is cut short ends the decoding. Never throws. */
export function decodeUserdata(bytes: Buffer | undefined): Userdata {
  const found = new Map<number, Buffer>();
  if (!bytes) return found;
  for (let at = 0; at + 2 <= bytes.length; ) {
    const end = at + 2 + (bytes[at + 1] ?? 0);
    if (end > bytes.length) break;
    found.set(bytes[at] ?? 0, bytes.subarray(at + 2, end));
    at = end;
  }
  return found;
}

/**
 * Writes an attribute that contains only a comment. Every element can have a comment, so this reuses one buffer, and
 * one view of it for each length.
 */
export function encodeComment(writer: MessageWriter, attribute: number, comment: string): void {
  const text = cutComment(comment);
  const length = Buffer.byteLength(text) + 1;
  scratch[0] = COMMENT;
  scratch[1] = length;
  scratch.write(text, 2);
  scratch[1 + length] = 0;
  let view = views[length];
  if (!view) {
    view = scratch.subarray(0, 2 + length);
    views[length] = view;
  }
  writer.data(attribute, view);
}

const scratch = Buffer.alloc(2 + MAX_COMMENT_BYTES + 1);
const views: (Buffer | undefined)[] = Array.from({ length: MAX_COMMENT_BYTES + 2 });

export function commentIn(bytes: Buffer | undefined): string | undefined {
  return bytes && commentText(decodeUserdata(bytes).get(COMMENT));
}

/** The comment with the terminating zero byte that nft expects. */
export function commentBytes(comment: string): Buffer {
  return Buffer.from(`${cutComment(comment)}\0`);
}

export function commentText(value: Buffer | undefined): string | undefined {
  if (!value) return undefined;
  const end = value.indexOf(0);
  return value.toString('utf8', 0, end < 0 ? value.length : end);
}

/** ` comment "…"`, or an empty text. nft has no escapes in quoted strings, so quotes and line feeds are replaced. */
export function printComment(comment: string | undefined): string {
  return comment === undefined ? '' : ` comment "${cutComment(comment).replace(/["\n]/g, "'")}"`;
}

function cutComment(comment: string): string {
  if (comment.length * 3 <= MAX_COMMENT_BYTES) return comment;
  const bytes = Buffer.from(comment);
  if (bytes.length <= MAX_COMMENT_BYTES) return comment;
  let end = MAX_COMMENT_BYTES;
  // Do not cut within a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
