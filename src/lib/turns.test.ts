import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedTurns, Turns } from './turns.ts';

test('KERNEL-9 work runs one piece at a time in the order of asking, whether or not a piece fails', async () => {
  const turns = new Turns();
  const log: string[] = [];
  const work = (name: string, fails = false) =>
    turns.take(async () => {
      log.push(`${name} begins`);
      await nextTurn();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work('a'), work('b', true), work('c')]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('work with the same key takes turns, work with other keys does not wait for it', async () => {
  const turns = new KeyedTurns();
  const log: string[] = [];
  const work = (key: string, name: string, fails = false) =>
    turns.take(key, async () => {
      log.push(`${name} begins`);
      await nextTurn();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  await Promise.allSettled([work('x', 'a', true), work('x', 'b'), work('y', 'c')]);
  assert.deepEqual(log.slice(0, 2), ['a begins', 'c begins']);
  assert.ok(log.indexOf('b begins') > log.indexOf('a ends'));
  assert.ok(log.includes('b ends'));
});
