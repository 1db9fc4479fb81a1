const ESCAPE = String.fromCharCode(27);
/** A colour code, or a visible character. */
const TOKENS = new RegExp(`${ESCAPE}\\[[0-9;]*m|.`, 'gu');

/** Returns the number of terminal columns that the text takes. */
export function visibleLength(text: string): number {
  return tokens(text).filter(isVisible).length;
}

/** Appends blanks up to the width. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - visibleLength(text)));
}

/** Cuts the text to the width. Keeps all colour codes, so that colours still end. */
export function truncate(text: string, width: number): string {
  if (visibleLength(text) <= width) return text;
  let left = width - 1;
  const kept = tokens(text).filter(token => !isVisible(token) || left-- > 0);
  return width > 0 ? `${kept.join('')}…` : '';
}

/** A space between words that belong together. */
export const NO_BREAK = '\u00a0';

/** Breaks the text between words into lines of at most the width. A word that is longer is broken, too. */
export function wrap(text: string, width: number): readonly string[] {
  const limit = Math.max(1, width);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap(word => pieces(word, limit))) {
    if (line !== '' && visibleLength(line) + 1 + visibleLength(word) > limit) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map(each => each.replaceAll(NO_BREAK, ' ').trimEnd());
}

function pieces(word: string, width: number): readonly string[] {
  if (visibleLength(word) <= width) return [word];
  const parts = [''];
  for (const token of tokens(word)) {
    const last = parts.at(-1) ?? '';
    if (isVisible(token) && visibleLength(last) === width) parts.push(token);
    else parts[parts.length - 1] = last + token;
  }
  return parts;
}

/** Aligns the cells of rows in columns. Appends no blanks to the last column. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...rows.map(row => visibleLength(row[i] ?? ''))));
  return rows.map(row => row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0))).join('  '));
}

function tokens(text: string): readonly string[] {
  return text.match(TOKENS) ?? [];
}

function isVisible(token: string): boolean {
  return !token.startsWith(ESCAPE);
}
