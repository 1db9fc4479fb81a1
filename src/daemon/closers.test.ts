import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { Closers } from './closers.ts';

test('START-9 what was opened is closed in the reverse order, though one fails', async () => {
  const { log, lines } = rememberingLog();
  const closers = new Closers(log);
  const closed: string[] = [];
  closers.add('first', () => void closed.push('first'));
  closers.add('broken', () => {
    throw new Error('no');
  });
  closers.add('last', async () => void closed.push('last'));
  await closers.close();
  closers.add('late', () => void closed.push('late'));
  assert.deepEqual(closed, ['last', 'first', 'late']);
  assert.deepEqual(lines, ['E Not closed cleanly {"err":"no","what":"broken"}']);
});
