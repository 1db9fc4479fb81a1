import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** Kills the process with SIGKILL, and its successors some moments after their start. */
export const kill: Fault<{ readonly times: number; readonly pauseMs: number }> = {
  name: 'kill',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 20_000,
  stopsProxy: true,
  choose: random => ({ times: random.between(1, 4), pauseMs: random.between(0, 1500) }),
  async run({ proxy }, { times, pauseMs }) {
    for (let time = 0; time < times; time++) {
      await proxy.restart('SIGKILL');
      await delay(pauseMs);
    }
  },
};
