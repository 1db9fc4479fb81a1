import type { Clock } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import { abortedError } from './api-error.ts';

/** Resolves after the time. Rejects with an ApiError if the signal comes first. */
export async function sleepUnlessAborted(ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  await sleep(ms, clock, signal);
  if (signal?.aborted) throw abortedError();
}

/** Settles like the promise, or rejects with an ApiError if the signal comes first. The work of the promise goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortedError());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
