import { setTimeout as delay } from 'node:timers/promises';
import type { Ip } from '../../../src/net/index.ts';
import { withRoutes } from '../../support/namespaces.ts';
import { attemptOnce } from '../world/attempt.ts';
import { STABLE } from '../world/services.ts';
import type { World } from '../world/world.ts';
import type { Fault } from './fault.ts';

const ADDRESS = '192.168.0.77';
/** The proxy must serve node ports at a new address within this time. */
const SERVED_MS = 10_000;
const PAUSE_MS = 200;

/** Addresses of the node come and go. Node ports must answer at a new address. */
export const nodeAddresses: Fault<{ readonly times: number; readonly lastsMs: number }> = {
  name: 'node-addresses',
  target: 'kernel',
  impairs: [],
  recoveryMs: 15_000,
  choose: random => ({ times: random.between(1, 10), lastsMs: random.between(500, 3000) }),
  async run(world, { times, lastsMs }) {
    const address = { ip: ADDRESS as Ip, prefix: 32 };
    const change = (verb: 'addAddress' | 'deleteAddress') =>
      withRoutes(world.network.node, route => {
        const eth0 = route.link('eth0');
        if (eth0) route[verb](eth0, address);
      });
    for (let time = 0; time < times; time++) {
      change('addAddress');
      try {
        await delay(time + 1 < times ? PAUSE_MS : lastsMs);
        if (time + 1 === times && !world.isImpaired) await checkServed(world);
      } finally {
        change('deleteAddress');
      }
    }
  },
};

async function checkServed(world: World): Promise<void> {
  const end = performance.now() + SERVED_MS;
  let last = '';
  while (performance.now() < end && !world.isImpaired) {
    const { answer, failure } = await attemptOnce(world.network.node, `${ADDRESS}:${STABLE[0]?.nodePort}`);
    if (answer !== undefined) return;
    last = failure;
    await delay(PAUSE_MS);
  }
  if (!world.isImpaired) {
    world.violated({ invariant: 'node ports answer at a new address of the node', facts: `${ADDRESS}: ${last}` });
  }
}
