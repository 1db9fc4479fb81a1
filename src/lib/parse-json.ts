import { MAX_LEVELS, TooDeepError } from './nesting.ts';

/**
 * Parses JSON that comes from outside. Throws a TooDeepError before it parses a text that is nested too deep: V8 would
 * need gigabytes for millions of levels, and JSON.stringify exhausts the stack with a few thousand. Throws a
 * SyntaxError if the text is not JSON.
 */
export function parseJson(text: string): unknown {
  const offset = tooDeepOffset(text);
  if (offset !== undefined) throw new TooDeepError(offset);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in one bit, as do `]` and `}`. */
const CASE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The offset of the first bracket that is nested too deep. Reads each character once: a line can have 64 MiB. */
function tooDeepOffset(text: string): number | undefined {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if ((code | CASE_BIT) === OPEN && ++level > MAX_LEVELS) return at;
    else if ((code | CASE_BIT) === CLOSE) level--;
  }
  return undefined;
}

/** The offset of the quote that ends a string. The end of the text if there is none. */
export function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    if (!isEscaped(text, at)) return at;
  }
  return text.length;
}

/** Whether an odd number of backslashes stands before the offset. */
function isEscaped(text: string, offset: number): boolean {
  let at = offset;
  while (text.charCodeAt(at - 1) === BACKSLASH) at--;
  return (offset - at) % 2 === 1;
}
