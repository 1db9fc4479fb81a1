import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { PassSchedule } from './pass-schedule.ts';

function setUp(pass: (clock: ManualClock) => Promise<boolean> = async () => false) {
  const clock = new ManualClock();
  const passes: number[] = [];
  const schedule = new PassSchedule({
    clock,
    debounce: 50,
    rescan: 10_000,
    pass: () => {
      passes.push(clock.now());
      return pass(clock);
    },
  });
  schedule.start();
  return { clock, passes, schedule };
}

test('FILES-5 a pass is made once nothing has asked for one for a while', async () => {
  const { clock, passes, schedule } = setUp();
  schedule.request();
  await clock.advance(30);
  schedule.request();
  await clock.advance(49);
  assert.deepEqual(passes, []);
  await clock.advance(1);
  assert.deepEqual(passes, [80]);
});

test('FILES-5 requests without pause do not put a pass off for ever', async () => {
  const { clock, passes, schedule } = setUp();
  for (let i = 0; i < 60; i++) {
    schedule.request();
    await clock.advance(10);
  }
  assert.deepEqual(passes, [500]);
});

test('FILES-5 a pass is made now and then though nobody asks', async () => {
  const { clock, passes } = setUp();
  await clock.advance(30_000);
  assert.deepEqual(passes, [10_000, 20_000, 30_000]);
});

test('FILES-5 passes do not overlap: a request during one brings another after it', async () => {
  const { clock, passes, schedule } = setUp(
    clock => new Promise(resolve => clock.setTimer(1000, () => resolve(false))),
  );
  schedule.request();
  await clock.advance(500);
  schedule.request();
  await clock.advance(3000);
  assert.deepEqual(passes, [50, 1100]);
});

test('FILES-5 a pass that asks for another gets one soon', async () => {
  let left = 2;
  const { clock, passes, schedule } = setUp(async () => left-- > 0);
  schedule.request();
  await clock.advance(5000);
  assert.deepEqual(passes, [50, 100, 150]);
});

test('FILES-5 closing waits for the pass that is under way, and there are no more', async () => {
  const { clock, passes, schedule } = setUp(clock => new Promise(resolve => clock.setTimer(1000, () => resolve(true))));
  schedule.request();
  await clock.advance(100);
  let closed = false;
  const close = schedule.close().then(() => {
    closed = true;
  });
  await clock.advance(100);
  assert.equal(closed, false);
  await clock.advance(20_000);
  await close;
  schedule.request();
  await clock.advance(20_000);
  assert.deepEqual(passes, [50]);
  assert.equal(clock.pending, 0);
});
