import type { Readable } from 'node:stream';
import { aborted } from '../api-error.ts';

export interface StreamBodyOptions {
  /** The error of a stream that broke off. */
  readonly broken: (cause: Error | undefined) => Error;
  /** Ends the transfer. */
  readonly cancel: () => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A response's body. Reads as fast as it is asked. Unlike a stream's own iterator, `return` ends it at once even while
 * `next` waits for a watch that has nothing to say.
 */
export class StreamBody implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: Readable;
  readonly #options: StreamBodyOptions;
  #wake: () => void = () => {};
  #error: Error | undefined;
  #state: 'open' | 'ended' | 'broken' | 'returned' = 'open';

  constructor(stream: Readable, options: StreamBodyOptions) {
    this.#stream = stream;
    this.#options = options;
    const { signal } = options;
    stream.on('readable', () => this.#wake());
    stream.once('end', () => this.#finish('ended'));
    stream.on('error', error => this.#break(options.broken(error)));
    stream.once('close', () => this.#break(options.broken(undefined)));
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk: unknown = this.#state === 'open' ? this.#stream.read() : null;
      if (chunk instanceof Uint8Array) return { done: false, value: chunk };
      if (this.#state === 'broken') throw this.#error;
      if (this.#state !== 'open') return { done: true, value: undefined };
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#state === 'open') {
      this.#finish('returned');
      this.#options.cancel();
    }
    return { done: true, value: undefined };
  }

  readonly #abort = () => {
    if (this.#state !== 'open') return;
    this.#break(aborted());
    this.#options.cancel();
  };

  #break(error: Error): void {
    if (this.#state !== 'open') return;
    this.#error = error;
    this.#finish('broken');
  }

  #finish(state: 'ended' | 'broken' | 'returned'): void {
    if (this.#state === 'open') this.#state = state;
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#wake();
  }
}
