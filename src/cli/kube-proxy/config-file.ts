import { readFileSync, writeFileSync } from 'node:fs';
import { configurationText } from '../../config/index.ts';

/** Throws an Error in Go's words: `open /x: no such file or directory`. */
export function readConfigFile(path: string): string {
  return configurationText(readBytes(path));
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Throws an Error in Go's words. */
export function writeConfigFile(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw fileError(path, error);
  }
}

function fileError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  // Node writes `ENOENT: no such file or directory, open '/x'`.
  const [, words = error.message] = /^\w+: (.*?), \w+/.exec(error.message) ?? [];
  return new Error(`${error.syscall} ${path}: ${GO_WORDS.get(String(error.code)) ?? words}`);
}

/** Where Go's words differ from Node's. */
const GO_WORDS: ReadonlyMap<string, string> = new Map([
  ['EIO', 'input/output error'],
  ['EISDIR', 'is a directory'],
  ['ELOOP', 'too many levels of symbolic links'],
  ['ENAMETOOLONG', 'file name too long'],
]);
