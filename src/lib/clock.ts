/** The time and timers. Tests replace it, so that they need not wait. */
export interface Clock {
  /** Milliseconds since 1970, to show to people. It jumps when the machine's clock is set. */
  now(): number;
  /** Milliseconds since some moment, to measure how long something takes. It never jumps. */
  elapsed(): number;
  /** Calls `fn` once after `ms`, never before this call has returned. */
  setTimer(ms: number, fn: () => void): Timer;
}

export interface Timer {
  /** Does nothing if `fn` was called already. */
  cancel(): void;
}

/** With a longer time, setTimeout fires at once. */
const MAX_TIMEOUT_MS = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer(ms, fn) {
    let timeout: NodeJS.Timeout;
    const wait = (left: number) => {
      const step = Math.min(left, MAX_TIMEOUT_MS);
      timeout = setTimeout(() => (left > step ? wait(left - step) : fn()), step);
    };
    wait(Math.max(0, ms));
    return { cancel: () => clearTimeout(timeout) };
  },
};
