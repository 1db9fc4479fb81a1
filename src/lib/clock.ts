/** Time, so that what waits can be tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970, for those who read it. It jumps when the machine's clock is set. */
  now(): number;
  /** Milliseconds since some moment, for telling how long something took or is to take. It never jumps. */
  elapsed(): number;
  /** Calls `fn` once after `ms`, never before the caller has returned. */
  setTimer(ms: number, fn: () => void): Timer;
}

export interface Timer {
  /** Does nothing once `fn` was called. */
  cancel(): void;
}

/** setTimeout fires at once when asked for more than this. */
const LONGEST_TIMEOUT_MS = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer(ms, fn) {
    let timeout: NodeJS.Timeout;
    const wait = (left: number) => {
      const step = Math.min(left, LONGEST_TIMEOUT_MS);
      timeout = setTimeout(() => (left > step ? wait(left - step) : fn()), step);
    };
    wait(Math.max(0, ms));
    return { cancel: () => clearTimeout(timeout) };
  },
};
