import { after, before, describe, test } from 'node:test';
import { assertSeamless, ours } from './sequence.ts';
import { type ProxyChoice, SwapStage, type Version } from './swap-stage.ts';
import { SwapTraffic } from './swap-traffic.ts';

/** Connections a second, from the node and from outside each. The guest has one processor, and all programs share it. */
const RATE = 25;

const upstream = (program: Version): ProxyChoice => ({ program, mode: 'ipvs', backend: 'legacy' });

describe('proxies that follow one another in ipvs mode', () => {
  let stage: SwapStage;
  let traffic: SwapTraffic;

  before(async () => {
    stage = await SwapStage.open();
    traffic = await SwapTraffic.prepare(stage);
  });

  after(() => stage?.close());

  const mine = ours('ipvs', 'legacy');
  const sequences: readonly (readonly [title: string, proxies: readonly ProxyChoice[]])[] = [
    ['E2E-42 v1.36, ours, v1.37 and ours', [upstream('v1.36'), mine, upstream('v1.37'), mine]],
    ['E2E-42 v1.36 on the sets and chains that we made', [mine, upstream('v1.36')]],
  ];
  for (const [title, proxies] of sequences) {
    test(`${title}: no connection fails, and each proxy programs all changes`, async t => {
      await assertSeamless(t, stage, traffic, { proxies, rate: RATE, changes: 1 });
    });
  }
});
