import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { node } from '../../test/support/objects.ts';
import { OwnNode, waitForNode } from './own-node.ts';

function begin(needsPodCIDRs: boolean) {
  const clock = new ManualClock();
  const own = new OwnNode(clock);
  const { log, lines } = rememberingLog();
  const waited = waitForNode(own, 'node-a', needsPodCIDRs, log);
  let outcome = 'waits';
  waited.then(
    () => {
      outcome = 'done';
    },
    error => {
      outcome = error.message;
    },
  );
  const setNode = (overrides: Parameters<typeof node>[1]) =>
    own.handle({ type: 'added', to: node('node-a', overrides) });
  return { clock, own, lines, setNode, outcome: () => outcome };
}

const WAITING = 'I Waiting for the Node to have addresses {"node":"node-a","atMost":"30s"}';

describe('START-2 waiting for the Node', () => {
  test('the wait ends as soon as the Node has an address', async () => {
    const { clock, setNode, lines, outcome } = begin(false);
    await clock.advance(2000);
    assert.equal(outcome(), 'waits');
    setNode({ internalIPs: ['192.168.0.2'] });
    await clock.advance(0);
    assert.equal(outcome(), 'done');
    assert.deepEqual(lines, [WAITING, 'I Successfully retrieved NodeIPs {"NodeIPs":["192.168.0.2"]}']);
    assert.equal(clock.pending, 0);
  });

  test('the wait ends after 30 s without a Node, or without its addresses, and the proxy goes on', async () => {
    const missing = begin(false);
    await missing.clock.advance(30_000);
    assert.equal(missing.outcome(), 'done');
    assert.deepEqual(missing.lines, [WAITING, 'E Failed to retrieve NodeIPs {"err":"node \\"node-a\\" not found"}']);

    const bare = begin(false);
    bare.setNode({});
    await bare.clock.advance(30_000);
    assert.deepEqual(bare.lines, [
      WAITING,
      'E Failed to retrieve NodeIPs {"err":"host IP unknown for node \\"node-a\\""}',
    ]);
  });

  test('the wait for pod CIDRs lasts up to five minutes, and their absence is fatal', async () => {
    const late = begin(true);
    late.setNode({ internalIPs: ['192.168.0.2'] });
    await late.clock.advance(299_000);
    assert.equal(late.outcome(), 'waits');
    assert.deepEqual(late.lines, [
      WAITING,
      'I Waiting for the Node to have PodCIDRs {"node":"node-a","atMost":"300s"}',
    ]);
    late.setNode({ internalIPs: ['192.168.0.2'], podCIDRs: ['10.244.1.0/24'] });
    await late.clock.advance(0);
    assert.equal(late.outcome(), 'done');

    const never = begin(true);
    never.setNode({ internalIPs: ['192.168.0.2'] });
    await never.clock.advance(300_000);
    assert.equal(never.outcome(), 'timeout waiting for PodCIDR allocation on node "node-a"');

    const missing = begin(true);
    await missing.clock.advance(330_000);
    assert.equal(missing.outcome(), 'timeout waiting for node "node-a" to exist');
  });

  test('the wait for pod CIDRs ends although the Node has no addresses', async () => {
    const { clock, setNode, outcome, lines } = begin(true);
    setNode({ podCIDRs: ['10.244.1.0/24'] });
    await clock.advance(30_000);
    assert.equal(outcome(), 'done');
    assert.match(lines.at(-1) ?? '', /host IP unknown/);
  });
});

test('START-8 the proxy keeps a Node that was deleted', () => {
  const own = new OwnNode(new ManualClock());
  const object = node('node-a', { internalIPs: ['192.168.0.2'] });
  own.handle({ type: 'added', to: object });
  own.handle({ type: 'removed', from: object });
  assert.equal(own.node, object);
});
