import type { Clock, Timer } from './clock.ts';

/** Resolves or rejects as `work` does. Rejects after `ms` if `work` is not done by then. It does not stop the work. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = clock.setTimer(ms, () => reject(new Error(`not done within ${ms} ms`)));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timer?.cancel();
  }
}
