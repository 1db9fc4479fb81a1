import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { ApiError } from '../api-error.ts';
import type { ClientLog } from '../client-log.ts';
import { fileErrorText } from '../file-error-text.ts';

/** The kubelet replaces a token that lives for ten minutes two minutes before its end. */
const PERIOD_MS = 60_000;

/** A file that others replace from time to time. Once it was read, its last text stays when it cannot be read again. */
export class ReloadedFile {
  readonly path: string;
  readonly #clock: Clock;
  readonly #log: ClientLog;
  readonly #problemOf: (text: string) => string | undefined;
  #text: string | undefined;
  #readAt = 0;

  /** `problemOf` says what is wrong with a text that is not to be used. */
  constructor(
    path: string,
    clock: Clock,
    log: ClientLog,
    problemOf: (text: string) => string | undefined = () => undefined,
  ) {
    this.path = path;
    this.#clock = clock;
    this.#log = log;
    this.#problemOf = problemOf;
  }

  text(): string {
    const age = this.#clock.elapsed() - this.#readAt;
    if (this.#text === undefined || age >= PERIOD_MS) this.#read();
    return this.#text ?? '';
  }

  /** The next `text` reads again. */
  expire(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  #read(): void {
    try {
      this.#text = this.#usable(readText(this.path));
    } catch (error) {
      if (this.#text === undefined) throw new ApiError('credentials', errorText(error), { cause: error });
      this.#log.error('Unable to read a file again, its former content is used', {
        path: this.path,
        err: errorText(error),
      });
    }
    this.#readAt = this.#clock.elapsed();
  }

  #usable(text: string): string {
    const problem = this.#problemOf(text);
    if (problem !== undefined) throw new Error(`${this.path} ${problem}`);
    return text;
  }
}

function readText(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(fileErrorText('open', path, error), { cause: error });
  }
  if (text === '') throw new Error(`${path} is empty`);
  return text;
}
