import { intern } from '../../lib/intern.ts';

/** A power of two, because the index is a part of the hash. */
const PLACES = 1 << 12;

/**
 * Names that were read before, found by their bytes. To make a text and then look it up takes several times as long,
 * and every endpoint has the name of its node. Each hash has one place, which holds the last name with that hash.
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

/** Whether the bytes are this ASCII text. Returns false for other texts, because it compares byte by byte. */
export function isText(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) {
    const byte = bytes[start + i] ?? 0;
    if (byte > 0x7f || text.charCodeAt(i) !== byte) return false;
  }
  return true;
}
