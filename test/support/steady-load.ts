import assert from 'node:assert/strict';
import { ANNOTATION_BALANCE } from '../../src/api/index.ts';
import type { LabMode } from './lab-mode.ts';
import { ManualClock } from './manual-clock.ts';
import { type OpenConnection, ServingNode } from './serving-node.ts';
import { waitFor } from './wait-for.ts';

const ENDPOINTS = ['10.244.1.1', '10.244.1.2', '10.244.1.3'];
const [FIRST = '', SECOND = ''] = ENDPOINTS;
const LEAST_CONNECTIONS = { [ANNOTATION_BALANCE]: 'least-connections' };
const PER_SECOND = 12;
const STAY_SECONDS = 4;

/** Why the connections of the endpoints are unequal at first. */
export type Disturbance = 'an endpoint joins late' | 'an endpoint loses all connections';

/** Real connections that come at a steady rate, and all stay for the same time. So their number is constant. */
class SteadyLoad {
  readonly #node: ServingNode;
  readonly #clock: ManualClock;
  readonly #connections: OpenConnection[] = [];
  /** The proxy has a timer for its next list of connections. Some modes count themselves. */
  readonly #isCountedByProxy: boolean;

  constructor(node: ServingNode, clock: ManualClock) {
    this.#node = node;
    this.#clock = clock;
    this.#isCountedByProxy = clock.pending > 0;
  }

  /** Returns how far an endpoint was from the mean, at most, whenever a new connection was open. */
  async pass(seconds: number): Promise<number> {
    let largest = 0;
    for (let second = 0; second < seconds; second++) {
      for (let i = 0; i < PER_SECOND; i++) {
        await this.#replaceOldest();
        largest = Math.max(largest, this.#difference());
      }
      await this.#clock.advance(1000);
      // The clock stands still while the proxy lists the connections.
      if (this.#isCountedByProxy) await waitFor('the proxy has counted', () => this.#clock.pending > 0);
      await this.#node.proxy.loop.settled();
    }
    return largest;
  }

  async #replaceOldest(): Promise<void> {
    const oldest = this.#connections.at(-PER_SECOND * STAY_SECONDS);
    if (oldest && this.#node.open.includes(oldest)) await this.#node.disconnect(oldest);
    this.#connections.push(await this.#node.connect());
  }

  #difference(): number {
    const counts = this.#node.counts(ENDPOINTS);
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    return Math.max(...counts.map(count => Math.abs(count - mean)));
  }
}

/**
 * Returns how far an endpoint is from the mean, at most, once the connections have been replaced often enough after a
 * disturbance.
 */
export async function differenceUnderSteadyLoad(
  mode: LabMode,
  disturbance: Disturbance,
  stays: { readonly settling: number; readonly measured: number },
): Promise<number> {
  const clock = new ManualClock();
  let difference = Number.POSITIVE_INFINITY;
  await ServingNode.use(
    async node => {
      await node.serve(...ENDPOINTS);
      await node.balance(LEAST_CONNECTIONS, disturbance === 'an endpoint joins late' ? [FIRST, SECOND] : ENDPOINTS);
      if (mode === 'ebpf') assert.equal(node.proxy.mode.condition?.()?.isServing, true, 'sockets choose');
      const load = new SteadyLoad(node, clock);
      await load.pass(STAY_SECONDS);
      assert.equal(node.open.length, PER_SECOND * STAY_SECONDS);
      if (disturbance === 'an endpoint joins late') await node.balance(LEAST_CONNECTIONS, ENDPOINTS);
      else for (const each of node.open) if (each.endpoint === FIRST) await node.disconnect(each);
      await load.pass(stays.settling * STAY_SECONDS);
      difference = await load.pass(stays.measured * STAY_SECONDS);
      assert.equal(node.open.length, PER_SECOND * STAY_SECONDS);
    },
    { mode, feedbackClock: clock },
  );
  return difference;
}
