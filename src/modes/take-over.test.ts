import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { modeSettingsFor, RecordedEvents } from '../../test/support/mode-harness.ts';
import type { Family } from '../net/index.ts';
import { MetricSet } from '../observe/metrics/index.ts';
import { type Mode, SILENT_EVENTS } from './mode.ts';
import { TakeOver } from './take-over.ts';

const NOTHING = { added: [], updated: [], removed: [] };

/** A mode that records what it does, and can be made to fail. */
function recordingMode(done: string[], fails: () => boolean = () => false): Mode {
  return {
    async sync(family) {
      if (fails()) throw new Error('no');
      done.push(`sync ${family}`);
      return { full: true };
    },
    setAside: () => [],
    readBack: async () => ({ entries: [], affinity: [] }),
    listing: async () => ({ blocks: [] }),
    registerMetrics: () => void done.push('metrics'),
    async close() {
      done.push('close');
    },
  };
}

const sync = (mode: Mode, family: Family) => mode.sync(family, NOTHING, modeSettingsFor(family));

test('IPT-14 after it has written every family, the mode removes once what another mode left', async () => {
  const done: string[] = [];
  let isBroken = true;
  const mode = new TakeOver(
    recordingMode(done, () => isBroken),
    ['IPv4', 'IPv6'],
    [async () => void done.push('remove')],
    { events: { ...SILENT_EVENTS, failed: ({ error }) => assert.fail(String(error)) } },
  );
  await assert.rejects(sync(mode, 'IPv4'));
  isBroken = false;
  await sync(mode, 'IPv6');
  assert.deepEqual(done, ['sync IPv6']);
  assert.deepEqual(await sync(mode, 'IPv4'), { full: true });
  await sync(mode, 'IPv4');
  await mode.close();
  assert.deepEqual(done, ['sync IPv6', 'sync IPv4', 'remove', 'sync IPv4', 'close']);
});

test('METRICS-1 a mode that takes over registers its own metrics', () => {
  const done: string[] = [];
  new TakeOver(recordingMode(done), ['IPv4'], [], { events: SILENT_EVENTS }).registerMetrics(new MetricSet());
  assert.deepEqual(done, ['metrics']);
});

test('IPT-14 the mode reports a failed removal once, makes the others, and retries at growing intervals', async () => {
  const done: string[] = [];
  const events = new RecordedEvents();
  const clock = new ManualClock();
  let isBusy = true;
  const busy = async () => {
    if (isBusy) throw new Error('busy');
    done.push('remove it');
  };
  const mode = new TakeOver(recordingMode(done), ['IPv4'], [busy, async () => void done.push('remove another')], {
    events,
    clock,
  });
  await sync(mode, 'IPv4');
  await sync(mode, 'IPv4');
  await clock.advance(30_000);
  assert.deepEqual(events.lines, ['failed to remove what another mode left: Error: busy']);
  assert.deepEqual(done, ['sync IPv4', 'remove another', 'sync IPv4']);
  isBusy = false;
  await clock.advance(59_999);
  assert.equal(done.length, 3);
  await clock.advance(1);
  assert.equal(done[3], 'remove it');
  assert.equal(clock.pending, 0);
  await mode.close();
});

test('IPT-14 a closed mode does not retry removals', async () => {
  const clock = new ManualClock();
  const events = new RecordedEvents();
  const fails = () => Promise.reject(new Error('busy'));
  const mode = new TakeOver(recordingMode([]), ['IPv4'], [fails], { events, clock });
  await sync(mode, 'IPv4');
  await mode.close();
  assert.deepEqual([events.lines.length, clock.pending], [1, 0]);
});

test('IPT-14 the mode waits at most an hour before it retries a removal', async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const fails = async () => {
    attempts++;
    throw new Error('busy');
  };
  const mode = new TakeOver(recordingMode([]), ['IPv4'], [fails], { events: new RecordedEvents(), clock });
  await sync(mode, 'IPv4');
  await clock.advance(24 * 3_600_000);
  const before = attempts;
  await clock.advance(3_600_000);
  assert.equal(attempts, before + 1);
  await mode.close();
});

test('IPT-14 a mode closes after the removal that runs, and does not retry it', async () => {
  const done: string[] = [];
  const clock = new ManualClock();
  let fail = () => {};
  const slow = () =>
    new Promise<void>((_resolve, reject) => {
      fail = () => {
        done.push('removal ended');
        reject(new Error('busy'));
      };
    });
  const mode = new TakeOver(recordingMode(done), ['IPv4'], [slow], { events: new RecordedEvents(), clock });
  await sync(mode, 'IPv4');
  const closed = mode.close();
  await new Promise(setImmediate);
  fail();
  await closed;
  assert.deepEqual(done, ['sync IPv4', 'removal ended', 'close']);
  assert.equal(clock.pending, 0);
});
