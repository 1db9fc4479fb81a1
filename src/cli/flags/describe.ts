import { goQuote } from '../../lib/go-quote.ts';
import { wrap } from '../terminal-text.ts';
import type { Flag, FlagTable } from './flag.ts';

/** The help does not show these defaults. */
const HIDDEN_DEFAULTS: readonly string[] = ['', '0', '0s', 'false', '[]'];

/** The text of a flag begins in this column, unless the terminal is narrow. */
const TEXT_COLUMN = 34;
const NARROW_WIDTH = 70;
const NARROW_COLUMN = 10;

/** Returns the lines of a help text: each flag with its default. No text is longer than the width. */
export function describeFlags(table: FlagTable, width: number): readonly string[] {
  const column = width < NARROW_WIDTH ? NARROW_COLUMN : TEXT_COLUMN;
  return Object.entries(table)
    .filter(([, { deprecated }]) => !deprecated)
    .flatMap(([name, flag]) => {
      const left = leftText(name, flag);
      const lines = wrap(flag.usage + defaultText(flag), width - column).map(line => ' '.repeat(column) + line);
      const [first = '', ...others] = lines;
      return left.length <= column - 2 ? [left + first.slice(left.length), ...others] : [left, ...lines];
    });
}

function leftText(name: string, { shorthand, word, type }: Flag<unknown>): string {
  const value = word ?? type.word;
  return `  ${shorthand ? `-${shorthand}, ` : '    '}--${name}${value && ` ${value}`}`;
}

function defaultText({ type, default: value }: Flag<unknown>): string {
  const text = type.format(value);
  if (HIDDEN_DEFAULTS.includes(text)) return '';
  return ` (default ${type.quotesDefault ? goQuote(text) : text})`;
}
