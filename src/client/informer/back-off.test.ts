import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { BackOff } from './back-off.ts';

test('WATCH-9 waits double from 0.8 s to 30 s', async () => {
  const clock = new ManualClock();
  const backOff = new BackOff(clock, () => 0);
  const waits = Array.from({ length: 8 }, () => backOff.next());
  assert.deepEqual(waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test('WATCH-9 the random part makes a wait up to twice as long, never shorter', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(9), (chance, failures) => {
      const backOff = new BackOff(new ManualClock(), () => chance);
      for (let i = 0; i < failures; i++) backOff.next();
      const least = Math.min(800 * 2 ** failures, 30_000);
      const wait = backOff.next();
      assert.ok(wait >= least && wait <= least * 2);
    }),
  );
});

test('WATCH-9 after two minutes without a failure the first wait is short again', async () => {
  const clock = new ManualClock();
  const backOff = new BackOff(clock, () => 0);
  backOff.next();
  backOff.next();
  await clock.advance(120_000);
  assert.equal(backOff.next(), 3200);
  await clock.advance(120_001);
  assert.equal(backOff.next(), 800);
  assert.equal(backOff.next(), 1600);
});
