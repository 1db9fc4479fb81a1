import { readFileSync, writeFileSync } from 'node:fs';

/** Throws an Error in Go's words: `open /x: no such file or directory`. */
export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
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
  return new Error(`${error.syscall} ${path}: ${error.code === 'EISDIR' ? 'is a directory' : words}`);
}
