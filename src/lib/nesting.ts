/**
 * How deep values may be nested in each text that comes from outside. Go's parsers read 10,000 levels. The YAML library
 * is recursive: from about 700 levels on it exhausts the stack, which can abort the process. Real files have about 20.
 */
export const MAX_LEVELS = 256;

/** A text is nested deeper than MAX_LEVELS. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';
  /** Where the first level begins that is too deep. */
  readonly offset: number;

  constructor(offset: number) {
    super(`is nested deeper than ${MAX_LEVELS} levels`);
    this.offset = offset;
  }

  /** For the author of a file. */
  get advice(): string {
    return `${this.message}: remove the levels that the file does not need`;
  }
}

/** The line and the column of an offset, both counted from 1. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', start)) {
    line++;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
}
