import { setTimeout as delay } from 'node:timers/promises';
import { whileApiIsAway } from './api-away.ts';
import type { Fault } from './fault.ts';

export const apiStopped: Fault<{ readonly signal: string; readonly lastsMs: number }> = {
  name: 'api-stopped',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: random => ({ signal: random.pick(['SIGTERM', 'SIGKILL']), lastsMs: random.between(500, 10_000) }),
  run: (world, { signal, lastsMs }) =>
    whileApiIsAway(world, async () => {
      await world.cluster.stopApiserver(signal === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL');
      world.apiStoppedAt = performance.now();
      await delay(lastsMs);
      world.apiStoppedAt = undefined;
      await world.cluster.startApiserver();
    }),
};
