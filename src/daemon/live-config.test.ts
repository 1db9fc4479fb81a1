import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { applyFeatureGates, defaultConfiguration } from '../config/index.ts';
import { HOUR, MINUTE } from '../lib/duration.ts';
import { BoundedFrequencyRunner } from '../proxy/bounded-frequency-runner.ts';
import { liveConfig } from './live-config.ts';

const HOUR_MS = 3_600_000;

test('SYNC-9 syncs may be more than an hour apart', async () => {
  const gates = applyFeatureGates(new Map());
  assert.ok(gates.kind === 'gates');
  const configuration = { ...defaultConfiguration(), minSyncPeriod: 2n * HOUR, syncPeriod: 3n * HOUR };
  const { intervals } = liveConfig(configuration, gates.gates);
  const clock = new ManualClock();
  let runs = 0;
  const runner = new BoundedFrequencyRunner({ ...intervals, clock, fn: () => void runs++ });
  try {
    runner.start();
    runner.run();
    await clock.advance(0);
    runner.run();
    await clock.advance(2 * HOUR_MS - 1);
    assert.equal(runs, 1);
    await clock.advance(1);
    assert.equal(runs, 2);
  } finally {
    await runner.stop();
  }
});

test('BALANCE-2 the default of the operator and what the mode can do are settings of the plans', () => {
  const gates = applyFeatureGates(new Map());
  assert.ok(gates.kind === 'gates');
  const configuration = { ...defaultConfiguration(), mode: 'iptables' };
  const { settings } = liveConfig(configuration, gates.gates, { defaultBalance: 'weighted' });
  assert.deepEqual(
    [settings.defaultAlgorithm, settings.algorithms],
    ['weighted', ['random', 'round-robin', 'weighted']],
  );
  assert.equal(liveConfig(configuration, gates.gates).settings.defaultAlgorithm, undefined);
});

test('SYNC-9 without a request a sync runs after an hour, whatever the sync period is', () => {
  const gates = applyFeatureGates(new Map());
  assert.ok(gates.kind === 'gates');
  const { intervals } = liveConfig({ ...defaultConfiguration(), syncPeriod: MINUTE }, gates.gates);
  assert.deepEqual([intervals.retryInterval, intervals.maxInterval], [60_000, HOUR_MS]);
});
