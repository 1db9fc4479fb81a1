import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { PulseRecorder } from './pulse.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const SYNC = { servicePorts: 2, milliseconds: 3 };

test('INSPECT-24 a pulse has the syncs of one second, and only seconds that have ended', async () => {
  const clock = new ManualClock(START + 300);
  const pulse = new PulseRecorder(clock);
  pulse.syncEnded({ ...SYNC, latencyMs: 7.04 });
  pulse.syncEnded({ servicePorts: 1, milliseconds: 8.26, latencyMs: 5 });
  pulse.syncEnded({ servicePorts: 0, milliseconds: 1, error: 'refused' });
  assert.deepEqual(pulse.ended(), []);
  await clock.advance(700);
  const first = { at: START, syncs: 3, failedSyncs: 1, syncMs: 8.3, latencyMs: 7, changes: 3 };
  assert.deepEqual(pulse.ended(), [first]);
  pulse.syncEnded(SYNC);
  await clock.advance(5000);
  const second = { at: START + 1000, syncs: 1, failedSyncs: 0, syncMs: 3, latencyMs: undefined, changes: 2 };
  assert.deepEqual(pulse.ended(), [first, second]);
  assert.deepEqual(pulse.ended(START + 1000), [second]);
});

test('INSPECT-24 pulses go five minutes back', async () => {
  const clock = new ManualClock(START);
  const pulse = new PulseRecorder(clock);
  for (let i = 0; i < 1000; i++) {
    pulse.syncEnded(SYNC);
    await clock.advance(1000);
  }
  assert.equal(pulse.ended().length, 300);
  assert.equal(pulse.ended()[0]?.at, START + 700_000);
  await clock.advance(400_000);
  assert.deepEqual(pulse.ended(), []);
});
