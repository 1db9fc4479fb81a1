import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandArguments, restoreArguments, saveArguments } from './arguments.ts';
import { featuresOf } from './version.ts';

const now = featuresOf({ version: '1.8.9', backend: 'nf_tables' }, true);
const backported = featuresOf({ version: '1.4.21', backend: 'legacy' }, true);
const ancient = featuresOf({ version: '1.4.7', backend: 'legacy' }, false);

test('KERNEL-9 a command has the lock wait first, then the chain, the table and the rule', () => {
  const rule = ['-m', 'comment', '--comment', 'a b', '-j', 'FOO'];
  assert.deepEqual(commandArguments(now, 5, '-N', 'nat', 'FOO'), ['-w', '5', '-N', 'FOO', '-t', 'nat']);
  assert.deepEqual(commandArguments(now, 7, '-C', 'nat', 'INPUT', rule), [
    ...['-w', '7', '-C', 'INPUT', '-t', 'nat'],
    ...rule,
  ]);
  assert.deepEqual(commandArguments(backported, 5, '-X', 'filter', 'FOO'), ['-w', '-X', 'FOO', '-t', 'filter']);
  assert.deepEqual(commandArguments(ancient, 5, '-F', 'filter', 'FOO'), ['-F', 'FOO', '-t', 'filter']);
});

test('KERNEL-9 by default restore keeps other chains and uses the counters of the input', () => {
  assert.deepEqual(restoreArguments(now, 5), ['-w', '5', '--noflush', '--counters']);
  assert.deepEqual(restoreArguments(now, 5, { table: 'nat' }), ['-w', '5', '-T', 'nat', '--noflush', '--counters']);
  assert.deepEqual(restoreArguments(now, 5, { noflush: false, counters: false }), ['-w', '5']);
  assert.deepEqual(restoreArguments(backported, 5), ['-w', '--noflush', '--counters']);
  assert.deepEqual(restoreArguments(ancient, 5), ['--noflush', '--counters']);
});

test('KERNEL-9 save has the table as an argument, or no argument', () => {
  assert.deepEqual(saveArguments('nat'), ['-t', 'nat']);
  assert.deepEqual(saveArguments(undefined), []);
});
