import { whileApiIsAway } from './api-away.ts';
import type { Fault } from './fault.ts';

const VERSIONS = 10;

/** The API server forgets the versions of the proxy's watches, so that it answers 410. */
export const forgottenVersions: Fault<Record<string, never>> = {
  name: 'forgotten-versions',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: () => ({}),
  async run(world) {
    const { relay, cluster } = world;
    relay.stall();
    await whileApiIsAway(world, async () => {
      await cluster.etcd.skipVersions(VERSIONS);
      await cluster.compact();
      await cluster.stopApiserver('SIGKILL');
      await cluster.startApiserver();
    });
    relay.cut();
  },
};
