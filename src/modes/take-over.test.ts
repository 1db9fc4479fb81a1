import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { modeSettingsFor } from '../../test/support/nftables-mode.ts';
import type { Mode } from './index.ts';
import type { Family } from '../net/index.ts';
import { TakeOver } from './take-over.ts';

const NOTHING = { added: [], updated: [], removed: [] };

/** A mode that tells what it does, and can be made to fail. */
function recordingMode(done: string[], fails: () => boolean = () => false): Mode {
  return {
    async sync(family) {
      if (fails()) throw new Error('no');
      done.push(`sync ${family}`);
      return { full: true };
    },
    setAside: () => [],
    async close() {
      done.push('close');
    },
  };
}

const sync = (mode: Mode, family: Family) => mode.sync(family, NOTHING, modeSettingsFor(family));

test('IPT-14 what another mode left goes once, after every family was written', async () => {
  const done: string[] = [];
  let isBroken = true;
  const mode = new TakeOver(
    recordingMode(done, () => isBroken),
    ['IPv4', 'IPv6'],
    error => assert.fail(String(error)),
    [async () => void done.push('remove')],
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

test('IPVS-18 statistics are passed on from a mode that has them', async () => {
  const statistics = { servicePorts: [], others: [], virtualServers: 3 };
  const takeOver = (mode: Mode) => new TakeOver(mode, ['IPv4'], error => assert.fail(String(error)), []);
  assert.equal(await takeOver({ ...recordingMode([]), statistics: async () => statistics }).statistics({}), statistics);
  assert.equal(await takeOver(recordingMode([])).statistics({}), undefined);
});

test('IPT-14 a removal that fails is told, keeps no other, and is tried again at growing intervals', async () => {
  const done: string[] = [];
  const told: string[] = [];
  const clock = new ManualClock();
  let isBusy = true;
  const busy = async () => {
    if (isBusy) throw new Error('busy');
    done.push('remove it');
  };
  const mode = new TakeOver(
    recordingMode(done),
    ['IPv4'],
    error => told.push(String(error)),
    [busy, async () => void done.push('remove another')],
    clock,
  );
  await sync(mode, 'IPv4');
  await sync(mode, 'IPv4');
  await clock.advance(30_000);
  assert.deepEqual(told, ['Error: busy', 'Error: busy']);
  assert.deepEqual(done, ['sync IPv4', 'remove another', 'sync IPv4']);
  isBusy = false;
  await clock.advance(59_999);
  assert.equal(done.length, 3);
  await clock.advance(1);
  assert.equal(done[3], 'remove it');
  assert.equal(clock.pending, 0);
  await mode.close();
});

test('IPT-14 a removal that is still to be tried again ends with the mode', async () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const fails = () => Promise.reject(new Error('busy'));
  const mode = new TakeOver(recordingMode([]), ['IPv4'], error => told.push(String(error)), [fails], clock);
  await sync(mode, 'IPv4');
  await mode.close();
  assert.deepEqual([told.length, clock.pending], [1, 0]);
});
