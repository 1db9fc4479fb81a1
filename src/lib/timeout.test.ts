import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { withTimeout } from './timeout.ts';

test('START-9 work that is done in time gives its result and leaves no timer', async () => {
  const clock = new ManualClock();
  assert.equal(await withTimeout(clock, 100, Promise.resolve('done')), 'done');
  await assert.rejects(withTimeout(clock, 100, Promise.reject(new Error('broken'))), { message: 'broken' });
  assert.equal(clock.pending, 0);
});

test('START-9 work that is not done in time is an error', async () => {
  const clock = new ManualClock();
  const outcome = assert.rejects(withTimeout(clock, 100, new Promise(() => {})), { message: 'not done within 100 ms' });
  await clock.advance(100);
  await outcome;
});
