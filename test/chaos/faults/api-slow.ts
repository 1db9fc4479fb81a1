import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const PERIOD_MS = 500;

/** The API server works only for a part of each half second, as on an overloaded machine. */
export const apiSlow: Fault<{ readonly worksMs: number; readonly periods: number }> = {
  name: 'api-slow',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: random => ({ worksMs: random.between(20, 200), periods: random.between(4, 16) }),
  async run({ cluster }, { worksMs, periods }) {
    for (let period = 0; period < periods; period++) {
      await cluster.pauseApiserver();
      await delay(PERIOD_MS - worksMs);
      cluster.resumeApiserver();
      await delay(worksMs);
    }
  },
};
