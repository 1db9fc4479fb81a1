import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly pollMs?: number;
  /** More lines for the error, for example a log. */
  readonly details?: () => string;
}

/** Asks again and again until `isReached` returns true. Throws an Error that says `what` if that takes too long. */
export async function waitFor(
  what: string,
  isReached: () => boolean | Promise<boolean>,
  { timeoutMs = 30_000, pollMs = 5, details = () => '' }: WaitOptions = {},
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isReached())) {
    if (performance.now() > end) throw new Error(`not reached within ${timeoutMs / 1000} s: ${what}\n${details()}`);
    await delay(pollMs);
  }
}
