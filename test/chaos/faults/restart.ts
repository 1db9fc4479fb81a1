import type { Fault } from './fault.ts';

/** Ends the process with SIGTERM and starts another one. Sometimes SIGKILL comes before the process has ended. */
export const restart: Fault<{ readonly killedAfterMs: number }> = {
  name: 'restart',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 20_000,
  stopsProxy: true,
  choose: random => ({ killedAfterMs: random.pick([20, 100, 500, 20_000, 20_000]) }),
  run: ({ proxy }, { killedAfterMs }) => proxy.restart('SIGTERM', killedAfterMs),
};
