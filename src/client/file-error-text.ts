import { errorCode } from '../lib/error-code.ts';

const ERRNO_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ELOOP: 'too many levels of symbolic links',
};

/** A failed file operation in the words of Go, as client-go prints it: `open /x: no such file or directory`. */
export function fileErrorText(operation: 'open' | 'read' | 'stat', path: string, error: unknown): string {
  const code = errorCode(error) ?? String(error);
  return `${operation} ${path}: ${ERRNO_TEXTS[code] ?? code}`;
}
