import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { withTimeout } from './with-timeout.ts';

test('work that is done in time keeps its outcome, and no timer is left', async () => {
  const clock = new ManualClock();
  assert.equal(await withTimeout(Promise.resolve('done'), 100, clock), 'done');
  assert.equal(await withTimeout('done already', 100, clock), 'done already');
  await assert.rejects(withTimeout(Promise.reject(new Error('failed')), 100, clock), /^Error: failed$/);
  assert.equal(clock.pending, 0);
});

test('work that is not done in time is an error, and its later outcome is ignored', async () => {
  const clock = new ManualClock();
  let fail = (_: Error) => {};
  const work = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const late = assert.rejects(withTimeout(work, 100, clock), /^Error: not done within 100 ms$/);
  await clock.advance(100);
  await late;
  fail(new Error('too late to matter'));
});
