import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** JSON is read up to this; see documents.ts for YAML. */
export const MOST_BYTES = 64 << 20;

export type ReadResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'problem'; readonly message: string };

/** Reads a file of text. Never throws, and never waits on what only looks like a file. */
export async function readText(path: string): Promise<ReadResult> {
  let file: FileHandle | undefined;
  try {
    // Between listing and opening, a pipe may have taken the file's place: it must not hold us up.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return { kind: 'problem', message: 'is no regular file: replace it by one' };
    if (stats.size > MOST_BYTES) return { kind: 'problem', message: tooLong(stats.size) };
    return decodeText(await file.readFile());
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' ? { kind: 'gone' } : { kind: 'problem', message: cannotRead(code) };
  } finally {
    await file?.close().catch(() => {});
  }
}

function tooLong(bytes: number): string {
  return `is ${bytes >> 20} MiB long, but at most ${MOST_BYTES >> 20} MiB are read: split it`;
}

function decodeText(bytes: Buffer): ReadResult {
  if (bytes.includes(0)) return { kind: 'problem', message: 'is binary (it holds a NUL byte): write it as UTF-8 text' };
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { kind: 'problem', message: 'is not UTF-8 text: write it as such' };
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}

export function cannotRead(code: string): string {
  const advice = code === 'EACCES' || code === 'EPERM' ? ': allow reading it' : '';
  return `cannot be read (${code})${advice}`;
}
