import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { ApiError } from '../api-error.ts';
import type { ClientLog } from '../client-log.ts';
import { fileErrorText } from '../file-error-text.ts';

/** Short enough for tokens: the kubelet replaces a token of ten minutes two minutes before it expires. */
const MAX_AGE_MS = 60_000;

/** A file that another program replaces from time to time. If a later read fails, the former text stays in use. */
export class ReloadedFile {
  readonly path: string;
  readonly #clock: Clock;
  readonly #log: ClientLog;
  readonly #problemOf: (text: string) => string | undefined;
  #text: string | undefined;
  #readAt = 0;

  /** `problemOf` returns what is wrong with a text, or undefined. A text with a problem is not used. */
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

  /** Reads the file if the last read is too old. Throws an ApiError if the file was never readable. */
  read(): string {
    const age = this.#clock.elapsed() - this.#readAt;
    if (this.#text === undefined || age >= MAX_AGE_MS) this.#reload();
    return this.#text ?? '';
  }

  /** The next `read` reads the file again. */
  expire(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  #reload(): void {
    try {
      this.#text = this.#checked(readText(this.path));
    } catch (error) {
      if (this.#text === undefined) throw new ApiError('credentials', errorText(error), { cause: error });
      this.#log.error('client', 'Could not reload a file, its former content is used', {
        path: this.path,
        err: errorText(error),
      });
    }
    this.#readAt = this.#clock.elapsed();
  }

  #checked(text: string): string {
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
