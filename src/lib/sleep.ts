import { type Clock, systemClock } from './clock.ts';

/** Resolves after the time, or earlier when the signal aborts. */
export function sleep(milliseconds: number, clock: Clock = systemClock, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const end = () => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(milliseconds, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
