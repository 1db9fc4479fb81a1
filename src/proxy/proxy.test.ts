import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syncIntervals } from './proxy.ts';

test('SYNC-9 by default at least a second passes between two syncs, and at most an hour', () => {
  assert.deepEqual(syncIntervals(), { minInterval: 1000, retryInterval: 30_000, maxInterval: 3_600_000 });
});

test('SYNC-9 a minSyncPeriod of more than an hour counts instead of the hour', () => {
  const hours = 2 * 3_600_000;
  assert.deepEqual(syncIntervals(hours, 1000), { minInterval: hours, retryInterval: 1000, maxInterval: hours });
});
