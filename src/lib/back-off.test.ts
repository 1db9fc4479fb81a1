import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { BackOff } from './back-off.ts';

const LIMITS = { firstMs: 100, maxMs: 500 };

test('each wait is twice as long as the one before, up to the longest', () => {
  const backOff = new BackOff(LIMITS);
  assert.deepEqual(
    Array.from({ length: 5 }, () => backOff.fail()),
    [100, 200, 400, 500, 500],
  );
});

test('after a success the first wait is the shortest again', () => {
  const backOff = new BackOff(LIMITS);
  backOff.fail();
  backOff.fail();
  backOff.reset();
  assert.equal(backOff.fail(), 100);
});

test('after a time without failures the first wait is the shortest again', async () => {
  const clock = new ManualClock();
  const backOff = new BackOff({ ...LIMITS, resetAfterMs: 1000, clock });
  backOff.fail();
  await clock.advance(1000);
  assert.equal(backOff.fail(), 200);
  await clock.advance(1001);
  assert.equal(backOff.fail(), 100);
});

test('the random part makes a wait up to twice as long, and does not add up', () => {
  const backOff = new BackOff({ ...LIMITS, random: () => 0.5 });
  assert.deepEqual([backOff.fail(), backOff.fail()], [150, 300]);
});

test('a wait is at least as long as the caller asks, and its random part is of that length', () => {
  const backOff = new BackOff({ ...LIMITS, random: () => 0.5 });
  assert.deepEqual([backOff.fail(1000), backOff.fail(100)], [1500, 300]);
});
