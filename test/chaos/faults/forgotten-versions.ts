import { whileApiIsAway } from './api-away.ts';
import type { Fault } from './fault.ts';

const VERSIONS = 10;

/** The API server forgets the versions of the proxy's watches, so that it answers 410, several times in a row. */
export const forgottenVersions: Fault<{ readonly times: number }> = {
  name: 'forgotten-versions',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: random => ({ times: random.between(1, 3) }),
  async run(world, { times }) {
    const { relay, cluster } = world;
    for (let time = 0; time < times; time++) {
      relay.stall();
      await whileApiIsAway(world, async () => {
        await cluster.etcd.skipVersions(VERSIONS);
        await cluster.compact();
        await cluster.stopApiserver('SIGKILL');
        await cluster.startApiserver();
      });
      relay.cut();
    }
  },
};
