import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnQueue } from './turn-queue.ts';

test('HEALTH-14 one step runs in each turn, and connections that are new go first', async () => {
  const queue = new TurnQueue();
  const done: string[] = [];
  const turn = (name: string, isFirst: boolean) => ({ isFirst, run: () => void done.push(name) });
  const [a, b, fresh, closed] = [turn('a', false), turn('b', false), turn('fresh', true), turn('closed', true)];
  for (const added of [a, b, a, closed]) queue.add(added);
  queue.remove(closed);
  await nextTurn();
  assert.deepEqual(done, ['a']);
  queue.add(a);
  queue.add(fresh);
  for (let i = 0; i < 10; i++) await nextTurn();
  assert.deepEqual(done, ['a', 'fresh', 'b', 'a']);
});

test('HEALTH-14 a turn that waits as a new one does not wait twice', async () => {
  const queue = new TurnQueue();
  let runs = 0;
  const turn = { isFirst: true, run: () => void runs++ };
  queue.add(turn);
  turn.isFirst = false;
  queue.add(turn);
  for (let i = 0; i < 5; i++) await nextTurn();
  assert.equal(runs, 1);
});
