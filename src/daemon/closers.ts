import { errorText } from '../lib/error-text.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { Logger } from '../observe/logging/index.ts';

type Close = () => void | Promise<void>;

/** Long enough for a write to the kernel that is under way, short enough for who asked for the end. */
const PATIENCE_MS = 5000;

/** What was opened, to be closed in the reverse order. */
export class Closers {
  readonly #log: Logger;
  readonly #closers: { readonly what: string; readonly close: Close }[] = [];
  #closed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** What is opened while all is being closed is closed at once. */
  add(what: string, close: Close): void {
    if (this.#closed) void this.#close(what, close);
    else this.#closers.push({ what, close });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (let next = this.#closers.pop(); next; next = this.#closers.pop()) await this.#close(next.what, next.close);
  }

  /** One that fails or takes too long must not keep the others open. */
  async #close(what: string, close: Close): Promise<void> {
    try {
      await withTimeout(close(), PATIENCE_MS);
    } catch (error) {
      this.#log.error('daemon', 'Not closed cleanly', { what, err: errorText(error) });
    }
  }
}
