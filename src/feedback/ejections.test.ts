import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../model/index.ts';
import { Ejections } from './ejections.ts';

function ready(...texts: readonly string[]): readonly Endpoint[] {
  return texts.map(text => ({ text, ready: true }) as Endpoint);
}

function ejectionsOf(after: number, ...texts: readonly string[]): Ejections {
  const ejections = new Ejections();
  ejections.changed(after, ready(...texts));
  return ejections;
}

test('BALANCE-71 an endpoint is left out after failures in a row', () => {
  const ejections = ejectionsOf(3, 'a', 'b');
  assert.deepEqual([ejections.failed('a', 0), ejections.failed('a', 1)], [undefined, undefined]);
  ejections.succeeded('a');
  assert.deepEqual([ejections.failed('a', 2), ejections.failed('a', 3)], [undefined, undefined]);
  assert.equal(ejections.isEjected('a'), false);
  assert.equal(ejections.failed('a', 4), 10_000);
  assert.equal(ejections.isEjected('a'), true);
  assert.equal(ejections.failed('a', 5), undefined, 'it is left out already');
  assert.deepEqual([ejections.nextReturn(), ejections.takeReturns(10_003)], [10_004, []]);
  assert.deepEqual([ejections.takeReturns(10_004), ejections.isEjected('a')], [['a'], false]);
  assert.equal(ejections.nextReturn(), undefined);
});

test('BALANCE-72 the time doubles up to five minutes, and begins again after the endpoint served as long', () => {
  const ejections = ejectionsOf(1, 'a', 'b');
  const times: number[] = [];
  let now = 0;
  for (let i = 0; i < 7; i++) {
    const ms = ejections.failed('a', now) ?? 0;
    times.push(ms / 1000);
    now += ms;
    ejections.takeReturns(now);
    now += ms - 1;
  }
  assert.deepEqual(times, [10, 20, 40, 80, 160, 300, 300]);
  assert.equal(ejections.failed('a', now + 1), 10_000);
});

test('BALANCE-73 never more than half of the ready endpoints are left out', () => {
  const left = (count: number) => {
    const texts = Array.from({ length: count }, (_, i) => `${i}`);
    const ejections = ejectionsOf(1, ...texts);
    return texts.filter(text => ejections.failed(text, 0) !== undefined).length;
  };
  assert.deepEqual([1, 2, 3, 4, 5].map(left), [0, 1, 1, 2, 2]);
});

test('BALANCE-71 an endpoint that is gone, or not ready, is forgotten', () => {
  const ejections = ejectionsOf(1, 'a', 'b');
  assert.equal(ejections.failed('a', 0), 10_000);
  ejections.changed(1, [...ready('b', 'c'), { text: 'a', ready: false } as Endpoint]);
  assert.equal(ejections.isEjected('a'), false);
  ejections.changed(1, ready('a', 'b', 'c'));
  assert.equal(ejections.failed('a', 1), 10_000);
  ejections.changed(0, ready('a', 'b', 'c'));
  assert.deepEqual([ejections.isEjected('a'), ejections.failed('a', 2)], [false, undefined]);
});
