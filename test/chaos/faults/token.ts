import { setTimeout as delay } from 'node:timers/promises';
import { whileApiIsAway } from './api-away.ts';
import type { Fault } from './fault.ts';

/** The API server no longer accepts the token of the proxy. Some time later the token file has another one. */
export const token: Fault<{ readonly expiredMs: number }> = {
  name: 'token',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 45_000,
  choose: random => ({ expiredMs: random.between(0, 8000) }),
  async run(world, { expiredMs }) {
    const { access, cluster } = world;
    access.replaceToken();
    await whileApiIsAway(world, async () => {
      await cluster.stopApiserver('SIGKILL');
      await cluster.startApiserver();
    });
    await delay(expiredMs);
    access.handOutToken();
  },
};
