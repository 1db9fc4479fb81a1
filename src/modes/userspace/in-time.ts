import type { Clock, Timer } from '../../lib/clock.ts';

/** The outcome of what is under way, or an error if that takes too long; then nobody waits for it any more. */
export async function inTime<T>(clock: Clock, milliseconds: number, work: Promise<T>): Promise<T> {
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
