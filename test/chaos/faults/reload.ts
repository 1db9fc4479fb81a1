import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** Long enough to ask for the health after the proxy has noticed the file. */
const INVALID_MS = 6000;
const VALID_MS = 3000;

/** Changes the configuration file while the proxy runs: other values, then an invalid file, then the usual file. */
export const reload: Fault<{
  readonly verbosity: number;
  readonly syncSeconds: number;
  readonly isMasqueraded: number;
}> = {
  name: 'reload',
  target: 'proxy',
  impairs: [],
  recoveryMs: 15_000,
  choose: random => ({
    verbosity: random.between(0, 4),
    syncSeconds: random.between(3, 60),
    isMasqueraded: random.between(0, 1),
  }),
  async run(world, { verbosity, syncSeconds, isMasqueraded }) {
    const periods = { minSyncPeriod: '10ms', syncPeriod: `${syncSeconds}s` };
    const linux = { masqueradeAll: isMasqueraded === 1 };
    const valid = { logging: { verbosity }, nftables: { ...periods, ...linux }, iptables: { ...periods, ...linux } };
    world.proxy.configure(valid);
    await delay(VALID_MS);
    world.proxy.configure({ ...valid, nftables: { syncPeriod: '-1s' }, iptables: { syncPeriod: '-1s' } });
    world.misconfiguredAt = performance.now();
    await delay(INVALID_MS);
    world.misconfiguredAt = performance.now();
    world.proxy.configure();
    await delay(VALID_MS);
    world.misconfiguredAt = undefined;
  },
};
