import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** The open connections to the API server fall silent, without an end that the proxy could notice. */
export const silentConnections: Fault<{ readonly lastsMs: number }> = {
  name: 'silent-connections',
  target: 'network',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: random => ({ lastsMs: random.between(0, 3000) }),
  async run({ relay }, { lastsMs }) {
    relay.stall();
    await delay(lastsMs);
  },
};
