import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const HOUR_MS = 3_600_000;

/** Sets the wall clock of the process ahead or back by hours. The clock of the machine stays. */
export const clockJump: Fault<{ readonly hours: number; readonly lastsMs: number }> = {
  name: 'clock-jump',
  target: 'proxy',
  impairs: [],
  recoveryMs: 10_000,
  choose: random => ({ hours: random.pick([-100_000, -24, -1, 1, 24, 100_000]), lastsMs: random.between(2000, 8000) }),
  async run({ proxy }, { hours, lastsMs }) {
    proxy.setClock(hours * HOUR_MS);
    await delay(lastsMs);
    proxy.setClock(0);
  },
};
