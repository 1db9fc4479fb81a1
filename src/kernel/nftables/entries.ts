import type { MessageWriter } from '../netlink/index.ts';
import { type Element, type ElementPart, encodeElement } from './element.ts';
import { intervalEnd, intervalStart } from './interval.ts';
import type { SetOrMap } from './set.ts';

/**
 * How a set's elements are told to the kernel. `key`: an entry with one key each. `pair`: ranges of a single field, an
 * entry each for the first key and for the one behind the last. `ends`: ranges in a concatenation, an entry with two
 * keys.
 */
export type Shape = 'key' | 'pair' | 'ends';

export function shapeOf(set: SetOrMap): Shape {
  if (!set.flags?.includes('interval')) return 'key';
  return set.type.length > 1 ? 'ends' : 'pair';
}

/** Writes the entries of one element, the first of them with the number `entry`, and returns how many they were. */
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

/** More than the entries of any element that the kernel takes: two keys, data, a chain's name and a comment, twice. */
const LARGEST_ELEMENT = 2048;

/** Whether the entries of an element go into so many bytes. */
export function entriesFit(shape: Shape, element: Element, room: number): boolean {
  return room >= LARGEST_ELEMENT || room >= maxEntryBytes(shape, element);
}

/** No fewer bytes than `encodeEntries` writes. */
function maxEntryBytes(shape: Shape, element: Element): number {
  const { key, keyEnd, data, verdict, comment, counter, timeout, expires } = element;
  let bound = 32 + key.length;
  if (keyEnd !== undefined) bound += 12 + keyEnd.length;
  if (data !== undefined) bound += 12 + data.length;
  if (verdict !== undefined) bound += 'chain' in verdict ? 24 + Buffer.byteLength(verdict.chain) : 16;
  if (comment !== undefined) bound += 12 + Buffer.byteLength(comment);
  if (counter !== undefined) bound += 48;
  if (timeout !== undefined || expires !== undefined) bound += 24;
  return shape === 'key' ? bound : 2 * bound;
}
