import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { TidyAfterStart } from './tidy-memory.ts';

test('START-10 memory is given back, in two steps, soon after all families were synced for the first time', async () => {
  const clock = new ManualClock();
  let collected = 0;
  const tidy = new TidyAfterStart(['IPv4', 'IPv6'], clock, () => collected++);
  tidy.synced('IPv4');
  tidy.synced('IPv4');
  await clock.advance(5000);
  assert.equal(collected, 0);
  tidy.synced('IPv6');
  await clock.advance(499);
  assert.equal(collected, 0);
  await clock.advance(501);
  tidy.synced('IPv6');
  await clock.advance(5000);
  assert.equal(collected, 2);
});
