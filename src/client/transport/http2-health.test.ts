import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { watchHealth } from './http2-health.ts';

const throwDestroyed = () => {
  throw new Error('The session has been destroyed');
};

test('CLIENT-7 an ended session whose socket stays open counts as dead, without a ping', async () => {
  const clock = new ManualClock();
  let deadCount = 0;
  watchHealth({
    session: { closed: true, destroyed: true, ping: throwDestroyed, settings: throwDestroyed },
    bytesRead: () => 0,
    timeouts: { connectMs: 1000, readIdleMs: 30_000, pingMs: 15_000 },
    clock,
    onDead: () => deadCount++,
  });
  await clock.advance(29_999);
  assert.equal(deadCount, 0);
  await clock.advance(1);
  assert.equal(deadCount, 1);
  await clock.advance(120_000);
  assert.deepEqual([deadCount, clock.pending], [1, 0]);
});
