import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../model/index.ts';
import { SlowStart } from './slow-start.ts';

const SECONDS = 30;
const STEP_MS = 3000;

function ready(...texts: readonly string[]): readonly Endpoint[] {
  return texts.map(text => ({ text, ready: true }) as Endpoint);
}

test('BALANCE-61 a new endpoint gets its share in ten steps', () => {
  const slow = new SlowStart();
  slow.changed(SECONDS, ready('a'), ready('a', 'b'), 500);
  const shares: number[] = [];
  for (let at: number | undefined = 500; at !== undefined; at = slow.nextStep(at)) shares.push(slow.share('b', at));
  assert.deepEqual(shares, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
  assert.equal(slow.nextStep(500), 500 + STEP_MS);
  assert.equal(slow.share('b', 500 + 9 * STEP_MS - 1), 0.9);
  assert.equal(slow.share('b', 500 + 9 * STEP_MS), 1);
  assert.equal(slow.share('a', 500), 1);
});

test('BALANCE-61 endpoints have their whole share if none of them was ready before', () => {
  const slow = new SlowStart();
  slow.changed(SECONDS, [], ready('a', 'b'), 0);
  assert.deepEqual([slow.share('a', 0), slow.share('b', 0), slow.nextStep(0)], [1, 1, undefined]);
  slow.changed(SECONDS, ready('a', 'b'), ready('c'), 10);
  assert.deepEqual([slow.share('c', 10), slow.nextStep(10)], [1, undefined]);
});

test('BALANCE-61 an endpoint that becomes ready again begins again', () => {
  const slow = new SlowStart();
  slow.changed(SECONDS, ready('a'), ready('a', 'b'), 0);
  slow.changed(SECONDS, ready('a', 'b'), [...ready('a'), { text: 'b', ready: false } as Endpoint], 5 * STEP_MS);
  assert.equal(slow.nextStep(5 * STEP_MS), undefined);
  slow.changed(SECONDS, [...ready('a'), { text: 'b', ready: false } as Endpoint], ready('a', 'b'), 6 * STEP_MS);
  assert.equal(slow.share('b', 6 * STEP_MS), 0.1);
});

test('BALANCE-61 another change of the Service does not begin the steps again', () => {
  const slow = new SlowStart();
  slow.changed(SECONDS, ready('a'), ready('a', 'b'), 0);
  slow.changed(SECONDS, ready('a', 'b'), ready('a', 'b', 'c'), 4 * STEP_MS);
  assert.deepEqual([slow.share('b', 4 * STEP_MS), slow.share('c', 4 * STEP_MS)], [0.5, 0.1]);
});

test('BALANCE-61 a longer time slows only endpoints that do not have their whole share yet', () => {
  const slow = new SlowStart();
  slow.changed(SECONDS, ready('a'), ready('a', 'b'), 0);
  slow.changed(SECONDS, ready('a', 'b'), ready('a', 'b', 'c'), 9 * STEP_MS);
  slow.changed(2 * SECONDS, ready('a', 'b', 'c'), ready('a', 'b', 'c'), 10 * STEP_MS);
  assert.deepEqual([slow.share('b', 10 * STEP_MS), slow.share('c', 10 * STEP_MS)], [1, 0.1]);
  slow.changed(0, ready('a', 'b', 'c'), ready('a', 'b', 'c'), 10 * STEP_MS);
  assert.equal(slow.share('c', 10 * STEP_MS), 1);
});
