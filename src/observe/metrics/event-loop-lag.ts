const INTERVAL_MS = 500;

/**
 * Measures how late timers fire, which is how long everything else waits: health answers, watches, the next sync. A
 * timer twice a second costs nothing worth measuring; Node's own monitor at its usual precision takes 0.5 % of a CPU.
 */
export function watchEventLoop(observe: (seconds: number) => void): { stop(): void } {
  let due = performance.now() + INTERVAL_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    observe(Math.max(0, now - due) / 1000);
    due = now + INTERVAL_MS;
  }, INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
