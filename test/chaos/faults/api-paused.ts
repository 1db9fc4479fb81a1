import { setTimeout as delay } from 'node:timers/promises';
import { whileApiIsAway } from './api-away.ts';
import type { Fault } from './fault.ts';

/** All threads of the API server stop. Its connections stay open. */
export const apiPaused: Fault<{ readonly lastsMs: number }> = {
  name: 'api-paused',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: random => ({ lastsMs: random.between(500, 8000) }),
  run: (world, { lastsMs }) =>
    whileApiIsAway(world, async () => {
      await world.cluster.pauseApiserver();
      await delay(lastsMs);
      world.cluster.resumeApiserver();
    }),
};
