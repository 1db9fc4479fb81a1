import { errorText } from '../lib/error-text.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { Logger } from '../observe/logging/index.ts';

/** The events of the process that end a run. */
type Host = Pick<NodeJS.Process, 'on' | 'once' | 'removeListener'>;

/** The request to end the run. A signal or a fatal error makes it. Only the first one counts. */
export class Shutdown {
  /** Resolves with the signal's name. Rejects with the fatal error. */
  readonly requested: Promise<string>;
  readonly #reject: (error: Error) => void;
  readonly #stopListening: () => void;
  #isRequested = false;

  constructor(log: Logger, host: Host = process) {
    const { promise, resolve, reject } = deferred<string>();
    this.requested = promise;
    this.#reject = reject;
    // An early fatal error has no handler yet. Without this one Node would report an unhandled rejection.
    promise
      .catch(() => {})
      .finally(() => {
        this.#isRequested = true;
      });
    const signals = ['SIGTERM', 'SIGINT'] as const;
    for (const signal of signals) host.once(signal, resolve);
    // An unexpected error may have stopped a watch or a sync for good, and nothing would show it. A restart is cheap,
    // because the rules stay in the kernel.
    const unexpected = (error: Error, origin: string) => {
      log.error('daemon', 'Unexpected error; kube-proxy ends and must be restarted', {
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

  get isRequested(): boolean {
    return this.#isRequested;
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

type Close = () => void | Promise<void>;

/** Long enough for a write to the kernel that is under way. Short enough for a process that got a signal. */
const CLOSE_TIMEOUT_MS = 5000;

/** Everything that the daemon opened. The end of the run closes it, in reverse order. */
export class OpenResources {
  readonly #log: Logger;
  readonly #open: { readonly name: string; readonly close: Close }[] = [];
  #closed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Closes the resource at once if the run ends already. */
  add(name: string, close: Close): void {
    if (this.#closed) void this.#close(name, close);
    else this.#open.push({ name, close });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (let next = this.#open.pop(); next; next = this.#open.pop()) await this.#close(next.name, next.close);
  }

  /** A resource that fails or takes too long must not keep the others open. */
  async #close(name: string, close: Close): Promise<void> {
    try {
      await withTimeout(close(), CLOSE_TIMEOUT_MS);
    } catch (error) {
      this.#log.error('daemon', 'A resource was not closed cleanly', { resource: name, err: errorText(error) });
    }
  }
}
