import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { StartMemoryRelease } from './memory.ts';

test('START-10 memory is released in two steps, soon after the first sync of all families', async () => {
  const clock = new ManualClock();
  let collected = 0;
  const release = new StartMemoryRelease(['IPv4', 'IPv6'], clock, () => collected++);
  release.synced('IPv4');
  release.synced('IPv4');
  await clock.advance(5000);
  assert.equal(collected, 0);
  release.synced('IPv6');
  await clock.advance(499);
  assert.equal(collected, 0);
  await clock.advance(501);
  release.synced('IPv6');
  await clock.advance(5000);
  assert.equal(collected, 2);
});
