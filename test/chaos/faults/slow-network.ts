import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** Delays all bytes between the proxy and the API server, in each direction. */
export const slowNetwork: Fault<{ readonly delayMs: number; readonly lastsMs: number }> = {
  name: 'slow-network',
  target: 'network',
  impairs: ['knowledge'],
  recoveryMs: 20_000,
  choose: random => ({ delayMs: random.between(50, 1500), lastsMs: random.between(2000, 8000) }),
  async run({ relay }, { delayMs, lastsMs }) {
    relay.delay(delayMs);
    await delay(lastsMs);
    relay.delay(0);
  },
};
