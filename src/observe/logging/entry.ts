import { errorText } from '../../lib/error-text.ts';
import { printableJson } from '../../lib/printable.ts';
import { shorten } from '../../lib/shorten.ts';
import { MAX_FIELDS, MAX_JSON_LENGTH, MAX_TEXT_LENGTH, valueLimiter } from './bounds.ts';

export type Severity = 'I' | 'W' | 'E';

export type Fields = Readonly<Record<string, unknown>>;

/** One line of the log, before it is formatted. */
export interface Entry {
  readonly severity: Severity;
  /** The line is written if the verbosity is at least this. 0 for warnings and errors, which are always written. */
  readonly level: number;
  /** See `Logger`. */
  readonly source: string;
  readonly message: string;
  /** `structured`: the message is quoted and fields may follow. `plain`: the message is the whole text. */
  readonly form: 'structured' | 'plain';
  readonly fields: Fields;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export type Format = (entry: Entry) => string;

/** The file and line of a source. A source that the build did not touch has no line, and prints as line 1. */
export function placeOf(source: string): string {
  const space = source.lastIndexOf(' ');
  return space < 0 ? `${source.slice(source.lastIndexOf('/') + 1)}.ts:1` : source.slice(space + 1);
}

/** Separates the error from the other fields: the text format writes it first, JSON last. Leaves out too many fields. */
export function splitFields(fields: Fields): { readonly err: unknown; readonly others: readonly [string, unknown][] } {
  const others = Object.entries(fields).filter(([key, value]) => value !== undefined && key !== 'err');
  if (others.length <= MAX_FIELDS) return { err: fields.err, others };
  return {
    err: fields.err,
    others: [...others.slice(0, MAX_FIELDS), ['fieldsLeftOut', others.length - MAX_FIELDS]],
  };
}

/** The text of a message, or of a field that is a text or an Error, with a limited length. Undefined for all other values. */
export function textOf(value: unknown): string | undefined {
  const text = value instanceof Error ? value.message : value;
  return typeof text === 'string' ? shorten(text, MAX_TEXT_LENGTH) : undefined;
}

/** Converts a value for JSON: an Error to its message, a Map to an object, a Set to a list, a bigint to a number. */
function plainValue(value: unknown): unknown {
  if (value instanceof Error) return value.message;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Limited in length, without control characters. Never throws: a log line must not make the proxy fail. */
export function jsonOf(value: unknown): string {
  const json = limitedJson(value);
  return printableJson(json.length <= MAX_JSON_LENGTH ? json : JSON.stringify(shorten(json, MAX_JSON_LENGTH)));
}

function limitedJson(value: unknown): string {
  const limited = valueLimiter();
  try {
    return JSON.stringify(value, (_key, item: unknown) => limited(plainValue(item))) ?? 'null';
  } catch (error) {
    return JSON.stringify(`<internal error: ${errorText(error)}>`);
  }
}
