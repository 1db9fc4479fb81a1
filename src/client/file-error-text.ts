import { errorCode } from './api-error.ts';

const ERRNO_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ELOOP: 'too many levels of symbolic links',
};

/** A failed file operation in Go's words, which upstream's users know: `open /x: no such file or directory`. */
export function fileErrorText(operation: 'open' | 'read' | 'stat', path: string, error: unknown): string {
  const code = errorCode(error);
  return `${operation} ${path}: ${ERRNO_TEXTS[code] ?? (code === '' ? String(error) : code)}`;
}
