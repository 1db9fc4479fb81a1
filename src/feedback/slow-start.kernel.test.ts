import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { ServingNode } from '../../test/support/serving-node.ts';
import { checkRamp } from '../../test/support/slow-start-ramp.ts';
import { ANNOTATION_BALANCE, ANNOTATION_SLOW_START } from '../api/index.ts';

// Real connections to an old and a new endpoint, at each of the ten steps.
describe('slow start', () => {
  test('BALANCE-61 in nftables mode, a new endpoint gets exactly its part of the turns at each step', () =>
    checkRamp('nftables', { annotations: { [ANNOTATION_BALANCE]: 'round-robin' }, by: 'turns' }));

  test('BALANCE-61 in userspace mode, a new endpoint gets exactly its part of the turns at each step', () =>
    checkRamp('userspace', { by: 'turns' }));

  for (const mode of ['nftables', 'iptables', 'ebpf'] as const) {
    test(`BALANCE-61 in ${mode} mode, chance gives a new endpoint its part of the connections at each step`, () =>
      checkRamp(mode, { by: 'chance' }));
  }

  test('BALANCE-57 BALANCE-61 sockets compare two slots in slow start, and all endpoints afterwards', async () => {
    const clock = new ManualClock();
    const [OLD, NEW] = ['10.244.1.1', '10.244.1.2'];
    const annotations = { [ANNOTATION_BALANCE]: 'least-connections', [ANNOTATION_SLOW_START]: '20' };
    const holdConnections = async (node: ServingNode) => {
      for (let i = 0; i < 60; i++) await node.connect();
      const counts = node.counts([OLD, NEW]);
      for (const each of node.open) await node.disconnect(each);
      return counts;
    };
    await ServingNode.use(
      async node => {
        await node.serve(OLD, NEW);
        await node.balance(annotations, [OLD]);
        await node.balance(annotations, [OLD, NEW]);
        assert.equal(node.proxy.mode.condition?.()?.isServing, true, 'sockets choose');
        const [, early = 0] = await holdConnections(node);
        // The new endpoint has one of 11 slots, so it gets 1 - (10 / 11)² of 60. More than 25 has a chance below 10⁻⁵.
        assert.ok(early <= 25, `${early}`);
        for (let second = 0; second < 20; second++) {
          await clock.advance(1000);
          await node.proxy.loop.settled();
        }
        assert.deepEqual(await holdConnections(node), [30, 30]);
      },
      { mode: 'ebpf', feedbackClock: clock },
    );
  });
});
