import type { Entry, Fields, Severity } from './entry.ts';

/** Where a logger hands its entries to. */
export interface LogSink {
  isEnabled(level: number, source: string): boolean;
  write(entry: Omit<Entry, 'time'>): void;
}

const NONE: Fields = {};

/** What the other folders log with. `source` is the name of the file that logs, without its ending. */
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

  /** A field `err` says what went wrong; it may be an Error. */
  error(source: string, message: string, fields: Fields = NONE): void {
    this.#log('E', source, message, fields);
  }

  /** Information for who asked for at least verbosity `level`. Fields that cost something belong behind `isEnabled`. */
  v(level: number, source: string, message: string, fields: Fields = NONE): void {
    if (!this.#sink.isEnabled(level, source)) return;
    this.#sink.write({ severity: 'I', level, source, message, form: 'structured', fields });
  }

  /** The message as it is, without quotes and fields. */
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
