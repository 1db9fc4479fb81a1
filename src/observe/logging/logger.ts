import type { Entry, Fields, Severity } from './entry.ts';

/** Receives the entries of a logger. */
export interface LogSink {
  isEnabled(level: number, source: string): boolean;
  write(entry: Omit<Entry, 'time'>): void;
}

const NONE: Fields = {};

/**
 * The logger for all folders. `source` is the name that `--vmodule` knows. It must be a literal or a variable in the
 * call of a value named `log`, because the build adds the file and the line of the call to it: `server start.ts:23`.
 */
export class Logger {
  readonly #sink: LogSink;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  info(source: string, message: string, fields: Fields = NONE): void {
    this.#log('I', source, message, fields);
  }

  warning(source: string, message: string, fields: Fields = NONE): void {
    this.#log('W', source, message, fields);
  }

  /** The field `err` has the error, as text or as an Error. */
  error(source: string, message: string, fields: Fields = NONE): void {
    this.#log('E', source, message, fields);
  }

  /** Logs information if the verbosity is at least `level`. A caller with costly fields checks `isEnabled` first. */
  v(level: number, source: string, message: string, fields: Fields = NONE): void {
    if (!this.#sink.isEnabled(level, source)) return;
    this.#sink.write({ severity: 'I', level, source, message, form: 'structured', fields });
  }

  /** Logs the message without quotes and fields. */
  plain(level: number, source: string, message: string): void {
    if (!this.#sink.isEnabled(level, source)) return;
    this.#sink.write({ severity: 'I', level, source, message, form: 'plain', fields: NONE });
  }

  isEnabled(level: number, source: string): boolean {
    return this.#sink.isEnabled(level, source);
  }

  #log(severity: Severity, source: string, message: string, fields: Fields): void {
    this.#sink.write({ severity, level: 0, source, message, form: 'structured', fields });
  }
}
