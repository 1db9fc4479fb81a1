import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** The API server reads the files again within this time. */
const RELOAD_MS = 3000;

/** The certificate of the API server expires or has a wrong name, and is then replaced by another good one. */
export const certificate: Fault<{ readonly bad: string; readonly lastsMs: number; readonly next: string }> = {
  name: 'certificate',
  target: 'network',
  impairs: ['knowledge'],
  recoveryMs: 75_000,
  choose: random => ({
    bad: random.pick(['expired', 'wrongName']),
    lastsMs: random.between(1000, 5000),
    next: random.pick(['server', 'behindIntermediate']),
  }),
  async run({ access, relay }, { bad, lastsMs, next }) {
    access.setCertificate(bad === 'expired' ? 'expired' : 'wrongName');
    await delay(RELOAD_MS);
    relay.cut();
    await delay(lastsMs);
    access.setCertificate(next === 'server' ? 'server' : 'behindIntermediate');
    await delay(RELOAD_MS);
    relay.cut();
  },
};
