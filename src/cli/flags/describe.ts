import { compareTexts } from '../../lib/compare-texts.ts';
import { goQuote } from '../../lib/go-quote.ts';
import type { Flag, FlagTable } from './flag.ts';

/** The help does not show these defaults. */
const HIDDEN_DEFAULTS: readonly string[] = ['', '0', '0s', 'false', '[]'];

/** Returns the lines of a help text, one for each flag, with its default. */
export function describeFlags(table: FlagTable): string {
  const rows = Object.entries(table)
    .filter(([, { deprecated }]) => !deprecated)
    .map(([name, flag]) => ({ left: left(name, flag), right: flag.usage + defaultText(flag) }));
  const width = Math.max(...rows.map(row => row.left.length)) + 3;
  const indent = `\n${' '.repeat(width)}`;
  return rows.map(row => row.left.padEnd(width) + row.right.replaceAll('\n', indent)).join('\n');
}

/** Sorts flags by name, as pflag does. */
export function sortedFlags(table: FlagTable): FlagTable {
  return Object.fromEntries(Object.entries(table).sort(([a], [b]) => compareTexts(a, b)));
}

function left(name: string, { shorthand, word, type }: Flag<unknown>): string {
  const value = word ?? type.word;
  return `  ${shorthand ? `-${shorthand}, ` : '    '}--${name}${value && ` ${value}`}`;
}

function defaultText({ type, default: value }: Flag<unknown>): string {
  const text = type.format(value);
  if (HIDDEN_DEFAULTS.includes(text)) return '';
  return ` (default ${type.quotesDefault ? goQuote(text) : text})`;
}
