/** A line that is longer goes on in the next one, from the next space between words. */
const BEST_WIDTH = 80;

export interface FoldPlace {
  readonly indent: string;
  readonly column: number;
  readonly isKey: boolean;
}

/**
 * Characters, as they are to be written, between quotes, in lines as long as Go's YAML writer makes them: reading puts the
 * space back where a line was broken. Keys stay in one line.
 */
export function folded(characters: readonly string[], quote: '' | "'" | '"', place: FoldPlace): string {
  const lineStart = `${place.indent}  `;
  let written = quote;
  let column = place.column + quote.length;
  for (const [index, character] of characters.entries()) {
    if (place.isKey || column <= BEST_WIDTH || !canBreak(characters, index, quote)) {
      written += character;
      column += [...character].length;
      continue;
    }
    // A space that begins a line would not be read.
    const kept = characters[index + 1] === ' ' ? '\\' : '';
    written += `\n${lineStart}${kept}`;
    column = lineStart.length + kept.length;
  }
  return written + quote;
}

/** At the first of several spaces, where they can be kept at all. */
function canBreak(characters: readonly string[], index: number, quote: string): boolean {
  if (characters[index] !== ' ' || characters[index - 1] === ' ') return false;
  if (quote !== '' && (index === 0 || index === characters.length - 1)) return false;
  return quote === '"' || characters[index + 1] !== ' ';
}
