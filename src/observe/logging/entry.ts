export type Severity = 'I' | 'W' | 'E';

export type Fields = Readonly<Record<string, unknown>>;

/** One line of the log, before it is formatted. */
export interface Entry {
  readonly severity: Severity;
  /** The line is written if the verbosity is at least this. 0 for warnings and errors, which are always written. */
  readonly level: number;
  /** Name of the file that logs, without its extension. */
  readonly source: string;
  readonly message: string;
  /** `structured`: the message is quoted and fields may follow. `plain`: the message is the whole text. */
  readonly form: 'structured' | 'plain';
  readonly fields: Fields;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export type Format = (entry: Entry) => string;

/** Separates the error from the other fields: the text format writes it first, JSON last. */
export function splitFields(fields: Fields): { readonly err: unknown; readonly others: readonly [string, unknown][] } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { err: fields.err, others: present.filter(([key]) => key !== 'err') };
}

/** Converts a value for JSON: an Error to its message, a Map to an object, a Set to a list, a bigint to a number. */
export function plainValue(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Control and format characters that JSON.stringify leaves as they are. A terminal may obey them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escapeInvisible(json: string): string {
  const unit = (text: string, i: number) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return json.replace(INVISIBLE, text => Array.from({ length: text.length }, (_, i) => unit(text, i)).join(''));
}

/** Never throws: a log line must not make the proxy fail. */
export function jsonOf(value: unknown): string {
  try {
    return escapeInvisible(JSON.stringify(value, plainValue) ?? 'null');
  } catch (error) {
    return JSON.stringify(`<internal error: ${error instanceof Error ? error.message : String(error)}>`);
  }
}
