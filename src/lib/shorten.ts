/** Cuts a text to this many characters, and says how long it was: `abc… (1048576 characters)`. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const note = `… (${text.length} characters)`;
  return `${text.slice(0, characterStart(text, Math.max(0, max - note.length)))}${note}`;
}

/** Cuts a text to this many bytes of UTF-8. */
export function shortenToBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  const kept = bytes.subarray(0, max - ELLIPSIS_BYTES).toString('utf8');
  // A character that was cut in the middle decodes as U+FFFD.
  return `${kept.replace(/\uFFFD$/, '')}…`;
}

const ELLIPSIS_BYTES = Buffer.byteLength('…');

/** The offset, or the one before it if it is in the middle of a surrogate pair. */
function characterStart(text: string, offset: number): number {
  return (text.codePointAt(offset - 1) ?? 0) > 0xffff ? offset - 1 : offset;
}
