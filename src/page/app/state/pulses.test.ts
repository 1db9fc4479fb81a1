import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pulse } from '../../../inspect/index.ts';
import { figuresOf } from '../parts/plots/figures.ts';
import { addPulse, PULSE_SECONDS, pulseSeries } from './pulses.ts';

const pulse = (second: number, changed: Partial<Pulse> = {}): Pulse => ({
  at: second * 1000,
  syncs: 1,
  failedSyncs: 0,
  syncMs: 2,
  changes: 1,
  ...changed,
});

test('PAGE-36 the page keeps the pulses of five minutes', () => {
  let known: readonly Pulse[] = [];
  for (let second = 0; second < 2 * PULSE_SECONDS; second++) known = addPulse(known, pulse(second));
  assert.equal(known.length, PULSE_SECONDS);
  assert.equal(known.at(-1)?.at, (2 * PULSE_SECONDS - 1) * 1000);
  assert.equal(addPulse(known, pulse(2 * PULSE_SECONDS - 1, { syncs: 7 })).at(-1)?.syncs, 7, 'replaces its second');
});

test('PAGE-38 the plots have one value for each second of the last five minutes', () => {
  const { seconds, syncs, latencyMs } = pulseSeries(
    [pulse(998, { latencyMs: 12 }), pulse(999, { syncs: 4 })],
    1_000_400,
  );
  assert.equal(seconds.length, PULSE_SECONDS);
  assert.deepEqual(seconds.slice(-3), [998, 999, 1000]);
  assert.deepEqual(syncs.slice(-3), [1, 4, 0]);
  assert.deepEqual(latencyMs.slice(-3), [12, null, null]);
});

test('PAGE-38 the figures beside the plots say the same in numbers', () => {
  const known = [pulse(900, { latencyMs: 80, syncs: 9 }), pulse(995, { latencyMs: 12, syncs: 5 })];
  assert.deepEqual(figuresOf(pulseSeries(known, 1_000_400)), {
    lastLatencyMs: 12,
    longestLatencyMs: 80,
    syncsPerSecond: 0.5,
    mostSyncs: 9,
  });
  assert.equal(figuresOf(pulseSeries([], 1_000_400)).lastLatencyMs, undefined);
});
