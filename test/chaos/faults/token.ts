import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** The token expires, and is replaced by another one some time later. New connections use the token of the file. */
export const token: Fault<{ readonly expiredMs: number; readonly next: string }> = {
  name: 'token',
  target: 'network',
  impairs: ['knowledge'],
  recoveryMs: 45_000,
  choose: random => ({ expiredMs: random.between(0, 6000), next: random.pick(['usual', 'rotated']) }),
  async run({ access, relay }, { expiredMs, next }) {
    access.setToken('expired');
    relay.cut();
    await delay(expiredMs);
    access.setToken(next === 'rotated' ? 'rotated' : 'usual');
    relay.cut();
  },
};
