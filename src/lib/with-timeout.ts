import { type Clock, systemClock, type Timer } from './clock.ts';

/** Rejects if the work is not done within the time. The work itself goes on, and its outcome is ignored. */
export async function withTimeout<T>(
  work: T | PromiseLike<T>,
  milliseconds: number,
  clock: Clock = systemClock,
): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimer(milliseconds, () => reject(new Error(`not done within ${milliseconds} ms`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer?.cancel();
  }
}
