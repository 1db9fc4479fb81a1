import { whileApiIsAway } from './api-away.ts';
import type { Fault } from './fault.ts';

/** An API server that starts writes versions of its own. It must not reach the version of the proxy's watches. */
const VERSIONS = 3000;

/** Sets etcd back to its state at the beginning of the run. */
export const apiRestored: Fault<Record<string, never>> = {
  name: 'api-restored',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 45_000,
  choose: () => ({}),
  run: world =>
    whileApiIsAway(world, async () => {
      await world.cluster.etcd.skipVersions(VERSIONS);
      await world.cluster.stopApiserver('SIGKILL');
      await world.cluster.etcd.restore();
      await world.cluster.startApiserver();
    }),
};
