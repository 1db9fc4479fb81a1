/** In so many pieces the time is counted. An exchange of two sockets in one process takes about five turns of its loop. */
const PIECES = 20;

/**
 * Calls back after the time, unless it is stopped before. The time is that of a process that runs: however long the
 * process stands still, in a system call or for want of a processor, a piece of the time has passed at most. Otherwise
 * a busy machine would make everybody seem silent whose answer is there but was not looked at yet.
 */
export function startDeadline(milliseconds: number, onExpired: () => void): { stop(): void } {
  let passed = 0;
  const timer = setInterval(() => {
    if (++passed < PIECES) return;
    clearInterval(timer);
    onExpired();
  }, milliseconds / PIECES);
  return { stop: () => clearInterval(timer) };
}
