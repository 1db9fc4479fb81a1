/** A longer line is broken at the next space between words. */
const MAX_WIDTH = 80;

export interface FoldPlace {
  readonly indent: string;
  readonly column: number;
  readonly isKey: boolean;
}

/**
 * Writes characters between quotes and breaks lines where Go's YAML writer breaks them. A reader puts the space back
 * where a line was broken. Keys stay in one line.
 */
export function foldLines(characters: readonly string[], quote: '' | "'" | '"', place: FoldPlace): string {
  const lineStart = `${place.indent}  `;
  let written = quote;
  let column = place.column + quote.length;
  for (const [index, character] of characters.entries()) {
    if (place.isKey || column <= MAX_WIDTH || !canBreak(characters, index, quote)) {
      written += character;
      column += [...character].length;
      continue;
    }
    // A reader ignores a space at the beginning of a line.
    const kept = characters[index + 1] === ' ' ? '\\' : '';
    written += `\n${lineStart}${kept}`;
    column = lineStart.length + kept.length;
  }
  return written + quote;
}

/** A line can be broken at the first of several spaces, if the style of the text can keep the others. */
function canBreak(characters: readonly string[], index: number, quote: string): boolean {
  if (characters[index] !== ' ' || characters[index - 1] === ' ') return false;
  if (quote !== '' && (index === 0 || index === characters.length - 1)) return false;
  return quote === '"' || characters[index + 1] !== ' ';
}
