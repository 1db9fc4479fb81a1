export type Severity = 'I' | 'W' | 'E';

export type Fields = Readonly<Record<string, unknown>>;

/** One line of the log, before it is put into words. */
export interface Entry {
  readonly severity: Severity;
  /** The verbosity from which it is written; 0 for warnings and errors, which always are. */
  readonly level: number;
  /** Name of the file that logs, without its ending. */
  readonly source: string;
  readonly message: string;
  /** `structured`: the message is quoted and fields may follow. `plain`: the message is the whole text. */
  readonly form: 'structured' | 'plain';
  readonly fields: Fields;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export type Format = (entry: Entry) => string;

/** What an error brings is told apart from the other values: klog writes it first, JSON last. */
export function splitFields(fields: Fields): { readonly err: unknown; readonly others: readonly [string, unknown][] } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { err: fields.err, others: present.filter(([key]) => key !== 'err') };
}

/** A value as JSON can hold it: an Error is its message, a Map an object, a Set a list, a bigint a number. */
export function plainValue(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A log line must never be the reason of a failure. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, plainValue) ?? 'null';
  } catch (error) {
    return JSON.stringify(`<internal error: ${error instanceof Error ? error.message : String(error)}>`);
  }
}
