import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { watchHealth } from './http2-health.ts';

const gone = () => {
  throw new Error('The session has been destroyed');
};

test('CLIENT-7 a session that ended while its socket waits for the peer is given up, and asked nothing', async () => {
  const clock = new ManualClock();
  let dead = 0;
  watchHealth({
    session: { closed: true, destroyed: true, ping: gone, settings: gone },
    bytesRead: () => 0,
    times: { connectMs: 1000, readIdleMs: 30_000, pingMs: 15_000 },
    clock,
    onDead: () => dead++,
  });
  await clock.advance(29_999);
  assert.equal(dead, 0);
  await clock.advance(1);
  assert.equal(dead, 1);
  await clock.advance(120_000);
  assert.deepEqual([dead, clock.pending], [1, 0]);
});
