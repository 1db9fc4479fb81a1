import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import { asError } from '../lib/error-text.ts';

/** The kubelet and others replace certificates and tokens long before they expire. */
const MAX_AGE_MS = 1000;
const MAX_BYTES = 1 << 20;

export interface RotatedFilesOptions<T> {
  readonly paths: readonly string[];
  /** Makes the value of the files' texts. Throws an Error that says what is wrong. */
  readonly parse: (texts: readonly string[]) => T;
  /** The files cannot be used any more, so the former value stays in use. */
  readonly onError: (error: Error) => void;
  readonly clock: Clock;
}

/**
 * The value of files that another program replaces from time to time. It looks at them only when the value is needed, so
 * a page that nobody opens costs nothing.
 */
export class RotatedFiles<T extends object> {
  readonly #options: RotatedFilesOptions<T>;
  #value: T | undefined;
  #digest = '';
  #readAt = 0;

  constructor(options: RotatedFilesOptions<T>) {
    this.#options = options;
  }

  /** Throws an Error if the files were never right. */
  get(): T {
    const now = this.#options.clock.elapsed();
    if (this.#value && now - this.#readAt < MAX_AGE_MS) return this.#value;
    this.#readAt = now;
    try {
      this.#value = this.#read();
    } catch (error) {
      if (!this.#value) throw error;
      this.#options.onError(asError(error));
    }
    return this.#value;
  }

  #read(): T {
    const texts = this.#options.paths.map(readText);
    const digest = texts.map(text => createHash('sha256').update(text).digest('hex')).join();
    if (this.#value && digest === this.#digest) return this.#value;
    const value = this.#options.parse(texts);
    this.#digest = digest;
    return value;
  }
}

function readText(path: string): string {
  const found = statSync(path);
  // Opening a FIFO would block.
  if (!found.isFile()) throw new Error(`${path} is no regular file`);
  if (found.size > MAX_BYTES) throw new Error(`${path} is too large`);
  return readFileSync(path, 'utf8');
}
