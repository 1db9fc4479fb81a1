/**
 * The time is counted in this many steps. That is more than the five turns of the event loop that two sockets in one
 * process need to exchange a question and an answer.
 */
const STEPS = 20;

/**
 * Calls `onExpired` after the time, unless it is stopped before. Only time in which the process runs counts: while the
 * process hangs in a system call or waits for a processor, at most one step passes. With a plain timer, a busy machine
 * would report a timeout although the answer has arrived and the process has only not read it yet.
 */
export function startDeadline(milliseconds: number, onExpired: () => void): { stop(): void } {
  let passed = 0;
  const timer = setInterval(() => {
    if (++passed < STEPS) return;
    clearInterval(timer);
    onExpired();
  }, milliseconds / STEPS);
  return { stop: () => clearInterval(timer) };
}
