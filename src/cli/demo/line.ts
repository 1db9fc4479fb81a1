const ESCAPE = String.fromCharCode(27);
/** Colours, or a character that is visible. */
const TOKENS = new RegExp(`${ESCAPE}\\[[0-9;]*m|.`, 'gu');

/** How many columns of a terminal the text takes. */
export function visibleLength(text: string): number {
  return tokens(text).filter(isVisible).length;
}

/** Fills up with blanks to the width. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - visibleLength(text)));
}

/** What fits into the width. Colours that are on are still turned off. */
export function truncate(text: string, width: number): string {
  if (visibleLength(text) <= width) return text;
  let left = width - 1;
  const kept = tokens(text).filter(token => !isVisible(token) || left-- > 0);
  return width > 0 ? `${kept.join('')}…` : '';
}

/** Rows of cells, aligned; the last column is not filled up. */
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
