import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addSample, currentRate, ratesOf, type Sample } from './samples.ts';

const START = 1_700_000_000_000;

function samples(...counts: readonly (readonly [second: number, connections: number])[]): readonly Sample[] {
  return counts.reduce<readonly Sample[]>(
    (list, [second, connections]) => addSample(list, { at: START + second * 1000, connections }),
    [],
  );
}

describe('the live counters of a Service', () => {
  test('PAGE-71 connections a second are the differences of the counter', () => {
    const { times, perSecond } = ratesOf(samples([0, 100], [1, 103], [4, 104]), START + 5000);
    assert.equal(times.length, 240);
    assert.deepEqual(perSecond.slice(-6), [0, 3, 0, 0, 1, 0]);
    assert.equal(perSecond[0], null, 'nothing is known from before the first sample');
  });

  test('PAGE-71 the rate is the mean of the last ten seconds', () => {
    assert.equal(currentRate(samples([0, 0], [5, 50]), START + 9000), 5);
    assert.equal(currentRate(samples([0, 0], [5, 50]), START + 60_000), 0);
    assert.equal(currentRate([], START), undefined);
  });

  test('PAGE-71 a counter that began anew makes no negative rate', () => {
    const list = samples([0, 100], [1, 5], [2, 6]);
    assert.ok(ratesOf(list, START + 3000).perSecond.every(rate => rate === null || rate >= 0));
  });

  test('PAGE-71 samples older than four minutes are forgotten', () => {
    const list = samples(...Array.from({ length: 1000 }, (_, i) => [i, i] as const));
    assert.ok(list.length <= 242);
  });
});
