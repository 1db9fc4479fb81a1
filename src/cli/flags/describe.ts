import { compareTexts } from '../../lib/compare-texts.ts';
import { goQuote } from '../../lib/go-quote.ts';
import type { Flag, FlagTable } from './flag.ts';

/** Texts of values that are not worth showing as a default. */
const ZEROS: readonly string[] = ['', '0', '0s', 'false', '[]'];

/** The flags as a help text, each with its default. */
export function describeFlags(table: FlagTable): string {
  const rows = Object.entries(table)
    .filter(([, { deprecated }]) => !deprecated)
    .map(([name, flag]) => ({ left: left(name, flag), right: flag.usage + defaultText(flag) }));
  const width = Math.max(...rows.map(row => row.left.length)) + 3;
  const indent = `\n${' '.repeat(width)}`;
  return rows.map(row => row.left.padEnd(width) + row.right.replaceAll('\n', indent)).join('\n');
}

/** In the order of names, as pflag lists them. */
export function sortedFlags(table: FlagTable): FlagTable {
  return Object.fromEntries(Object.entries(table).sort(([a], [b]) => compareTexts(a, b)));
}

function left(name: string, { shorthand, word, type }: Flag<unknown>): string {
  const value = word ?? type.word;
  return `  ${shorthand ? `-${shorthand}, ` : '    '}--${name}${value && ` ${value}`}`;
}

function defaultText({ type, default: value }: Flag<unknown>): string {
  const text = type.format(value);
  if (ZEROS.includes(text)) return '';
  return ` (default ${type.quotesDefault ? goQuote(text) : text})`;
}
