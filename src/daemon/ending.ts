import type { Logger } from '../observe/logging/index.ts';

/** The process, as far as it tells of its end. */
type Host = Pick<NodeJS.Process, 'on' | 'once' | 'removeListener'>;

/** How a run ends: asked for by a signal, or by something that it cannot go on from. The first one counts. */
export class Ending {
  /** Resolves with the signal's name; rejects with what was fatal. */
  readonly reached: Promise<string>;
  readonly #reject: (error: Error) => void;
  readonly #stopListening: () => void;
  #isReached = false;

  constructor(log: Logger, host: Host = process) {
    const { promise, resolve, reject } = deferred<string>();
    this.reached = promise;
    this.#reject = reject;
    // Whoever waits hears of it; nobody waits yet when it comes early.
    promise
      .catch(() => {})
      .finally(() => {
        this.#isReached = true;
      });
    const signals = ['SIGTERM', 'SIGINT'] as const;
    for (const signal of signals) host.once(signal, resolve);
    // What it broke off is not known: something may no longer be followed, and nobody would notice. A new start costs
    // little, for what is programmed stays.
    const unexpected = (error: Error, origin: string) => {
      log.error('daemon', 'Unexpected error; ending, to be started again', {
        err: error.message,
        origin,
        stack: error.stack,
      });
      reject(new Error(`unexpected error: ${error.message}`, { cause: error }));
    };
    host.on('uncaughtException', unexpected);
    this.#stopListening = () => {
      for (const signal of signals) host.removeListener(signal, resolve);
      host.removeListener('uncaughtException', unexpected);
    };
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  fail(error: Error): void {
    this.#reject(error);
  }

  close(): void {
    this.#stopListening();
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
