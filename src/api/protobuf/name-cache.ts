import { intern } from '../../lib/intern.ts';

/** A power of two. */
const PLACES = 1 << 12;

/**
 * Names that were read before, found by their bytes: to make a text only to find that it is known takes several times
 * as long, and each endpoint names its node. A name has one place, which the last one read has.
 */
const names: string[] = new Array<string>(PLACES).fill('');

export function nameOf(bytes: Buffer, start: number, end: number): string {
  let hash = 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  const place = hash & (PLACES - 1);
  const known = names[place] ?? '';
  if (isText(known, bytes, start, end)) return known;
  const name = intern(bytes.toString('utf8', start, end));
  names[place] = name;
  return name;
}

/** Whether the bytes are this text. Only of ASCII can that be told byte by byte: others are taken for different. */
export function isText(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) {
    const byte = bytes[start + i] ?? 0;
    if (byte > 0x7f || text.charCodeAt(i) !== byte) return false;
  }
  return true;
}
