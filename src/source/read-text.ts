import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errorCode } from '../lib/error-code.ts';

/** The limit for JSON. The limit for YAML is in parse-documents.ts. */
export const MAX_BYTES = 64 << 20;

export type ReadResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'problem'; readonly message: string };

/** Reads a file of text. Never throws, and never blocks on a pipe. */
export async function readText(path: string): Promise<ReadResult> {
  let file: FileHandle | undefined;
  try {
    // A pipe may have replaced the file since it was listed. Without O_NONBLOCK, opening it would wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return { kind: 'problem', message: 'is not a regular file: replace it with one' };
    if (stats.size > MAX_BYTES) return { kind: 'problem', message: tooLong(stats.size) };
    return decodeText(await file.readFile());
  } catch (error) {
    const code = readErrorCode(error);
    return code === 'ENOENT' ? { kind: 'gone' } : { kind: 'problem', message: cannotRead(code) };
  } finally {
    await file?.close().catch(() => {});
  }
}

export function tooLong(bytes: number): string {
  return `is ${bytes >> 20} MiB long, but the limit is ${MAX_BYTES >> 20} MiB: split it`;
}

export function decodeText(bytes: Buffer): ReadResult {
  if (bytes.includes(0)) return { kind: 'problem', message: 'is binary (it has a NUL byte): write it as UTF-8 text' };
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { kind: 'problem', message: 'is not UTF-8 text: write it as UTF-8' };
  }
}

/** Never undefined, so that messages can show it. */
export function readErrorCode(error: unknown): string {
  return errorCode(error) ?? 'unknown error';
}

export function cannotRead(code: string): string {
  const advice = code === 'EACCES' || code === 'EPERM' ? ': allow reading it' : '';
  return `cannot be read (${code})${advice}`;
}

/** Why the path of all manifests cannot be read. */
export function pathReason(error: unknown): string {
  const code = readErrorCode(error);
  return code === 'ENOENT' ? 'there is no such file or folder' : cannotRead(code);
}

export function unreadablePath(path: string, error: unknown): Error {
  return new Error(`cannot read manifests from ${path}: ${pathReason(error)}`);
}
