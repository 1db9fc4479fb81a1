import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planOf } from '../../test/support/plans.ts';
import { NOTHING, TestMode } from '../../test/support/test-mode.ts';
import { KernelError } from '../kernel/errors.ts';
import { CHANGED_MEANWHILE, entryState, type KernelEntry, ReadBudget } from './read-back.ts';

const plan = planOf('web', ['10.244.1.1']);
const ENTRY: KernelEntry = { kind: 'rule', place: 'chain', wanted: 'a', found: 'a' };

test('READ-2 an entry is equal, missing, different or unexpected', () => {
  const states = (
    [
      ['a', 'a'],
      ['a', undefined],
      ['a', 'b'],
      [undefined, 'b'],
    ] as const
  ).map(([wanted, found]) => entryState({ ...ENTRY, wanted, found }));
  assert.deepEqual(states, ['equal', 'missing', 'different', 'unexpected']);
});

test('READ-4 a reading runs beside a sync, reads once more, and says that rules changed', async () => {
  const mode = new TestMode();
  await mode.start('IPv4', { ...NOTHING, added: [plan] });
  let end = () => {};
  mode.writer().nextWrite = () =>
    new Promise(resolve => {
      end = () => resolve('written');
    });
  const sync = mode.start();
  await new Promise(setImmediate);
  let reads = 0;
  mode.writer().reads = () => {
    reads++;
    return { entries: [ENTRY], affinity: [] };
  };
  // The write has not ended, so a reading that took a turn would never end.
  assert.deepEqual(await mode.readBack('IPv4', plan), {
    entries: [ENTRY],
    affinity: [],
    incomplete: CHANGED_MEANWHILE,
  });
  assert.equal(reads, 2);
  end();
  await sync;
  assert.deepEqual(await mode.readBack('IPv4', plan), { entries: [ENTRY], affinity: [] });
  assert.equal(reads, 3);
  await mode.close();
});

test('READ-4 after a sync in the middle of a reading, the second reading counts', async () => {
  const mode = new TestMode();
  await mode.start('IPv4', { ...NOTHING, added: [plan] });
  const readings = ['before', 'after'];
  mode.writer().reads = async () => {
    const found = readings.shift();
    if (found === 'before') await mode.start();
    return { entries: [{ ...ENTRY, found }], affinity: [] };
  };
  assert.deepEqual(await mode.readBack('IPv4', plan), { entries: [{ ...ENTRY, found: 'after' }], affinity: [] });
  await mode.close();
});

test('READ-4 a reading that cannot be made says why', async () => {
  const mode = new TestMode();
  const why = async () => (await mode.readBack('IPv4', plan)).incomplete;
  assert.equal(await why(), 'the mode has written nothing for IPv4 yet');
  await mode.start('IPv4', { ...NOTHING, added: [plan] });
  mode.writer().reads = () => {
    throw new KernelError('KERNEL_REFUSED', { operation: 'get chain', errno: 'EPERM' });
  };
  assert.match((await why()) ?? '', /^the mode could not read the kernel: .*get chain.*EPERM/);
  await mode.close();
  assert.equal(await why(), 'the mode is closed');
});

test('READ-4 a reading ends after a number of objects or after a time, and lets other work run', async () => {
  const many = new ReadBudget(100);
  let turns = 0;
  setImmediate(function turn() {
    turns++;
    if (many.spent === undefined) setImmediate(turn);
  });
  let read = 0;
  while (await many.spend()) read++;
  assert.equal(read, 100);
  assert.equal(many.spent, 'the mode read only the first 100 objects');
  assert.ok(turns >= 2, `${turns} turns`);
  const slow = new ReadBudget(100, -1);
  assert.equal(await slow.spend(), false);
  assert.equal(slow.spent, 'the kernel took too long to answer');
});
