import type { MessageWriter } from '../netlink/index.ts';
import { type Element, type ElementPart, encodeElement } from './element.ts';
import { intervalEnd, intervalStart } from './interval.ts';
import type { SetOrMap } from './set.ts';

/**
 * How the elements of a set are encoded.
 *
 * key   One entry with one key.
 * pair  A range of a single field: an entry for the first key, and an entry for the key after the last one.
 * ends  A range in a concatenation: one entry with the first and the last key.
 */
export type Shape = 'key' | 'pair' | 'ends';

export function shapeOf(set: SetOrMap): Shape {
  if (!set.flags?.includes('interval')) return 'key';
  return set.type.length > 1 ? 'ends' : 'pair';
}

/** Writes the entries of one element, numbered from `entry` on. Returns how many entries it wrote. */
export function encodeEntries(
  writer: MessageWriter,
  shape: Shape,
  entry: number,
  element: Element,
  part: ElementPart,
): number {
  if (shape === 'key' || element.catchAll) {
    encodeElement(writer, entry, element, part);
    return 1;
  }
  if (shape === 'ends') {
    encodeElement(writer, entry, element.keyEnd ? element : { ...element, keyEnd: element.key }, part);
    return 1;
  }
  const end = intervalEnd(element);
  encodeElement(writer, entry, intervalStart(element), part, end === undefined);
  if (!end) return 1;
  encodeElement(writer, entry + 1, end, part);
  return 2;
}

/** How many entries an element has. */
export function entryCount(shape: Shape, element: Element): number {
  return shape === 'pair' && !element.catchAll && intervalEnd(element) ? 2 : 1;
}

/** More bytes than any element needs: two keys, data, a chain's name and a comment, all of it twice. */
const MAX_ELEMENT_BYTES = 2048;

/** Whether the entries of an element fit into this many bytes. */
export function entriesFit(shape: Shape, element: Element, room: number): boolean {
  return room >= MAX_ELEMENT_BYTES || room >= maxEntryBytes(shape, element);
}

/** An upper limit for the bytes that `encodeEntries` writes. */
function maxEntryBytes(shape: Shape, element: Element): number {
  const { key, keyEnd, data, verdict, comment, counter, timeout, expires } = element;
  let size = 32 + key.length;
  if (keyEnd !== undefined) size += 12 + keyEnd.length;
  if (data !== undefined) size += 12 + data.length;
  if (verdict !== undefined) size += 'chain' in verdict ? 24 + Buffer.byteLength(verdict.chain) : 16;
  if (comment !== undefined) size += 12 + Buffer.byteLength(comment);
  if (counter !== undefined) size += 48;
  if (timeout !== undefined || expires !== undefined) size += 24;
  return shape === 'key' ? size : 2 * size;
}
