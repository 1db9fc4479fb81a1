import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { sleep } from './sleep.ts';

test('sleep ends after its time', async () => {
  const clock = new ManualClock();
  let woke = false;
  const sleeping = sleep(100, clock).then(() => {
    woke = true;
  });
  await clock.advance(99);
  assert.equal(woke, false);
  await clock.advance(1);
  await sleeping;
});

test('sleep ends early when its signal aborts, and leaves no timer', async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const sleeping = sleep(100, clock, controller.signal);
  controller.abort();
  await sleeping;
  await sleep(100, clock, controller.signal);
  assert.equal(clock.pending, 0);
});
