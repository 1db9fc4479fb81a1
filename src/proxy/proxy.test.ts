import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syncIntervals } from './proxy.ts';

test('SYNC-9 by default at most an hour passes between two syncs', () => {
  assert.equal(syncIntervals().maxInterval, 3_600_000);
});

test('SYNC-12 by default the rest is four times as long as the sync, and at most a second', () => {
  const { minInterval, restPerRun } = syncIntervals();
  assert.deepEqual({ minInterval, restPerRun }, { minInterval: 1000, restPerRun: 4 });
});

test('SYNC-12 a minSyncPeriod other than the default is kept', () => {
  for (const period of [0, 500, 2000]) {
    const { minInterval, restPerRun } = syncIntervals(period);
    assert.deepEqual({ minInterval, restPerRun }, { minInterval: period, restPerRun: undefined });
  }
});

test('SYNC-9 a minSyncPeriod of more than an hour counts instead of the hour', () => {
  const hours = 2 * 3_600_000;
  assert.deepEqual(syncIntervals(hours, 1000), { minInterval: hours, retryInterval: 1000, maxInterval: hours });
});
