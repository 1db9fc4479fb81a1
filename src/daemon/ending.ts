/** How a run ends: asked for by a signal, or by something that it cannot go on from. The first one counts. */
export class Ending {
  /** Resolves with the signal's name; rejects with what was fatal. */
  readonly reached: Promise<string>;
  readonly #reject: (error: Error) => void;
  readonly #stopListening: () => void;
  #isReached = false;

  constructor() {
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
    for (const signal of signals) process.once(signal, resolve);
    this.#stopListening = () => {
      for (const signal of signals) process.removeListener(signal, resolve);
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
