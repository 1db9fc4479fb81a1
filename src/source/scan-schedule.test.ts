import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { ScanSchedule } from './scan-schedule.ts';

function setUp(scan: (clock: ManualClock) => Promise<boolean> = async () => false) {
  const clock = new ManualClock();
  const scans: number[] = [];
  const schedule = new ScanSchedule({
    clock,
    debounceMs: 50,
    rescanMs: 10_000,
    scan: () => {
      scans.push(clock.now());
      return scan(clock);
    },
  });
  schedule.start();
  return { clock, scans, schedule };
}

test('FILES-5 a scan begins when no request has come for a while', async () => {
  const { clock, scans, schedule } = setUp();
  schedule.request();
  await clock.advance(30);
  schedule.request();
  await clock.advance(49);
  assert.deepEqual(scans, []);
  await clock.advance(1);
  assert.deepEqual(scans, [80]);
});

test('FILES-5 requests without a pause do not delay a scan for ever', async () => {
  const { clock, scans, schedule } = setUp();
  for (let i = 0; i < 60; i++) {
    schedule.request();
    await clock.advance(10);
  }
  assert.deepEqual(scans, [500]);
});

test('FILES-5 a scan begins from time to time without a request', async () => {
  const { clock, scans } = setUp();
  await clock.advance(30_000);
  assert.deepEqual(scans, [10_000, 20_000, 30_000]);
});

test('FILES-5 scans do not overlap: a request during a scan causes another scan after it', async () => {
  const { clock, scans, schedule } = setUp(clock => new Promise(resolve => clock.setTimer(1000, () => resolve(false))));
  schedule.request();
  await clock.advance(500);
  schedule.request();
  await clock.advance(3000);
  assert.deepEqual(scans, [50, 1100]);
});

test('FILES-5 a scan that needs another scan is followed by one soon', async () => {
  let left = 2;
  const { clock, scans, schedule } = setUp(async () => left-- > 0);
  schedule.request();
  await clock.advance(5000);
  assert.deepEqual(scans, [50, 100, 150]);
});

test('FILES-5 close waits for the scan that is running, and no scan follows', async () => {
  const { clock, scans, schedule } = setUp(clock => new Promise(resolve => clock.setTimer(1000, () => resolve(true))));
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
  assert.deepEqual(scans, [50]);
  assert.equal(clock.pending, 0);
});
