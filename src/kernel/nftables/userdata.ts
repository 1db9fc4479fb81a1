import type { MessageWriter } from '../netlink/index.ts';

/**
 * What nft keeps with an object for itself, most of all the comment: values with a byte of type and a byte of length.
 * The kernel stores the bytes unread.
 */
export type Userdata = ReadonlyMap<number, Buffer>;

/** nft's grammar takes comments of no more bytes than this, so longer ones are cut. */
const LONGEST_COMMENT = 128;
/** In the userdata of tables, chains, rules and elements; sets have a number of their own. */
const COMMENT = 0;

/** Values in the order given; a number becomes four bytes. */
export function encodeUserdata(values: readonly (readonly [type: number, value: Buffer | number])[]): Buffer {
  const parts: Buffer[] = [];
  for (const [type, value] of values) {
    const bytes = typeof value === 'number' ? u32(value) : value;
    parts.push(Buffer.from([type, bytes.length]), bytes);
  }
  return Buffer.concat(parts);
}

/** What is cut short ends the walk; nothing throws. */
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
 * Writes the attribute with a comment alone in it. Every element may have one, so it is put together in memory that is
 * used again each time, through a view for each length.
 */
export function encodeComment(writer: MessageWriter, attribute: number, comment: string): void {
  const text = cut(comment);
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

const scratch = Buffer.alloc(2 + LONGEST_COMMENT + 1);
const views: (Buffer | undefined)[] = Array.from({ length: LONGEST_COMMENT + 2 });

export function commentIn(bytes: Buffer | undefined): string | undefined {
  return bytes && commentText(decodeUserdata(bytes).get(COMMENT));
}

/** With the terminating zero byte, as nft wants it. */
export function commentBytes(comment: string): Buffer {
  return Buffer.from(`${cut(comment)}\0`);
}

export function commentText(value: Buffer | undefined): string | undefined {
  if (!value) return undefined;
  const end = value.indexOf(0);
  return value.toString('utf8', 0, end < 0 ? value.length : end);
}

/** ` comment "…"`, or nothing. nft's quoted strings know no escapes, so what would end one is replaced. */
export function printComment(comment: string | undefined): string {
  return comment === undefined ? '' : ` comment "${cut(comment).replace(/["\n]/g, "'")}"`;
}

function cut(comment: string): string {
  if (comment.length * 3 <= LONGEST_COMMENT) return comment;
  const bytes = Buffer.from(comment);
  if (bytes.length <= LONGEST_COMMENT) return comment;
  let end = LONGEST_COMMENT;
  // Not in the middle of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
