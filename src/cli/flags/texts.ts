import { quantityText } from '../../config/index.ts';
import { type Duration, formatDuration, parseDuration } from '../../lib/duration.ts';
import { errorText } from '../../lib/error-text.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { formatCsv, parseCsv } from './csv.ts';
import type { FlagType } from './flag.ts';
import { parseBool, parseLevel } from './numbers.ts';

export const string: FlagType<string> = {
  word: 'string',
  quotesDefault: true,
  parse: text => text,
  format: value => value,
};

/** A text that the validation of the configuration checks later. */
export function word(name: string): FlagType<string> {
  return { word: name, parse: text => text, format: value => value };
}

export const stringSlice: FlagType<readonly string[]> = {
  word: 'strings',
  parse: (text, current, isFirst) => (isFirst ? parseCsv(text) : [...current, ...parseCsv(text)]),
  format: values => `[${formatCsv(values)}]`,
};

/** One of these words. */
export function oneWordOf<Word extends string>(known: readonly Word[]): FlagType<Word> {
  return {
    word: 'string',
    parse: text => knownWord(known, text),
    format: value => value,
  };
}

function knownWord<Word extends string>(known: readonly Word[], text: string): Word {
  const found = known.find(word => word === text);
  if (found === undefined) throw new Error(`${goQuote(text)} is not known: use ${known.join(' or ')}`);
  return found;
}

/** Some of these words, with commas between them. */
export function someOf<Word extends string>(known: readonly Word[]): FlagType<readonly Word[]> {
  return {
    word: 'strings',
    parse: (text, current, isFirst) => [
      ...new Set([...(isFirst ? [] : current), ...parseCsv(text).map(word => knownWord(known, word))]),
    ],
    format: values => `[${formatCsv(values)}]`,
  };
}

export const duration: FlagType<Duration> = {
  word: 'duration',
  parse: text => parseDuration(text),
  format: formatDuration,
};

/** A number with a suffix, such as `64Ki`. */
export const quantity: FlagType<string> = {
  word: 'quantity',
  parse: text => quantityText(text),
  format: value => value,
};

export const mapStringBool: FlagType<ReadonlyMap<string, boolean>> = {
  word: 'mapStringBool',
  parse(text, current, isFirst) {
    const pairs = text
      .split(',')
      .filter(pair => pair !== '')
      .map(parseStringBool);
    return new Map([...(isFirst ? [] : current), ...pairs]);
  },
  format: values =>
    [...values]
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(','),
};

function parseStringBool(pair: string): readonly [string, boolean] {
  const equals = pair.indexOf('=');
  if (equals < 0) throw new Error('malformed pair, expect string=bool');
  const key = pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  try {
    return [key, parseBool(value)];
  } catch (error) {
    throw new Error(`invalid value of ${key}: ${value}, err: ${errorText(error)}`);
  }
}

export interface FilePatternVerbosity {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** `pattern=N,…`. Each occurrence adds to the former ones. */
export const vmodule: FlagType<readonly FilePatternVerbosity[]> = {
  word: 'pattern=N,...',
  parse: (text, current) => [
    ...current,
    ...text
      .split(',')
      .filter(item => item !== '')
      .map(parsePatternLevel),
  ],
  format: items => items.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(','),
};

function parsePatternLevel(item: string): FilePatternVerbosity {
  const [filePattern, number, ...more] = item.split('=');
  if (!filePattern || !number || more.length > 0)
    throw new Error(`${goQuote(item)} does not have the pattern=N format`);
  try {
    return { filePattern, verbosity: parseLevel(number) };
  } catch (error) {
    throw new Error(`parsing verbosity in ${goQuote(item)}: ${errorText(error)}`);
  }
}
