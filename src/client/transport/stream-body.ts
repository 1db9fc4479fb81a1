import type { Readable } from 'node:stream';
import { abortedError } from '../api-error.ts';

export interface StreamBodyOptions {
  /** Makes the error for a stream that broke off. */
  readonly toError: (cause: Error | undefined) => Error;
  /** Ends the transfer early. */
  readonly cancel: () => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The body of a response. It reads only as fast as its caller. `return` ends it at once, even while `next` waits for
 * the next event of a watch. The iterator of a Node stream cannot do that.
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
    stream.on('error', error => this.#break(options.toError(error)));
    stream.once('close', () => this.#break(options.toError(undefined)));
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
    this.#break(abortedError());
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
