import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { systemClock } from './clock.ts';

test('LIB-1 a timer fires once, after its time, and never before setTimer has returned', async () => {
  const calls: string[] = [];
  await new Promise<void>(resolve => {
    systemClock.setTimer(0, () => {
      calls.push('fired');
      resolve();
    });
    calls.push('returned');
  });
  assert.deepEqual(calls, ['returned', 'fired']);
});

test('LIB-1 a cancelled timer does not fire', async () => {
  let fired = false;
  systemClock
    .setTimer(0, () => {
      fired = true;
    })
    .cancel();
  await new Promise(resolve => setTimeout(resolve, 5));
  assert.equal(fired, false);
});

test('LIB-1 a timer of more than 24 days does not fire at once', t => {
  const waits: { ms: number; fn: () => void }[] = [];
  t.mock.method(globalThis, 'setTimeout', (fn: () => void, ms: number) => waits.push({ ms, fn }));
  let fired = 0;
  const month = 30 * 24 * 3600 * 1000;
  systemClock.setTimer(month, () => fired++);
  waits[0]?.fn();
  assert.equal(fired, 0);
  waits[1]?.fn();
  assert.equal(fired, 1);
  assert.deepEqual(
    waits.map(wait => wait.ms),
    [0x7fffffff, month - 0x7fffffff],
  );
});

test('LIB-1 the manual clock fires timers in the order of their times, also timers that a timer sets', async () => {
  const clock = new ManualClock(1000);
  const fired: number[] = [];
  clock.setTimer(20, () => fired.push(clock.now()));
  clock.setTimer(10, () => {
    fired.push(clock.now());
    clock.setTimer(5, () => fired.push(clock.now()));
  });
  clock.setTimer(12, () => fired.push(-1)).cancel();
  await clock.advance(15);
  assert.deepEqual(fired, [1010, 1015]);
  await clock.advance(5);
  assert.deepEqual(fired, [1010, 1015, 1020]);
  assert.equal(clock.pending, 0);
});
