import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkResult } from '../../bench/record/check.ts';
import type { Figure } from '../../bench/record/result.ts';
import { figure, result } from './sample-results.ts';

/** Our figure and upstream's, which is 100. */
function pair(ours: number, fields: Partial<Figure> = {}): readonly Figure[] {
  return [figure({ subject: 'ours', ...fields, value: ours }), figure({ subject: 'theirs', ...fields, value: 100 })];
}

function regressions(now: readonly Figure[], recorded: readonly Figure[]): readonly string[] {
  return checkResult(result(now), result(recorded)).regressions.map(each => each.figure);
}

describe('check of results', () => {
  test('BENCH-5 a ratio may become worse by its tolerance, and not by more', () => {
    assert.deepEqual(regressions(pair(14), pair(10)), []);
    assert.deepEqual(regressions(pair(16), pair(10)), ['ours: cold start, 1000x5, first sync beside theirs']);
    assert.deepEqual(regressions(pair(1), pair(10)), []);
  });

  test('BENCH-5 a slower machine is no regression', () => {
    const slow = pair(10).map(each => ({ ...each, value: each.value * 7 }));
    assert.deepEqual(regressions(slow, pair(10)), []);
  });

  test('BENCH-5 a p99 may vary more, and memory less', () => {
    const tail = { name: 'latency p99' };
    assert.deepEqual(
      [regressions(pair(29, tail), pair(10, tail)).length, regressions(pair(31, tail), pair(10, tail)).length],
      [0, 1],
    );
    const memory = { kind: 'memory' } as const;
    assert.deepEqual(
      [regressions(pair(11, memory), pair(10, memory)).length, regressions(pair(12, memory), pair(10, memory)).length],
      [0, 1],
    );
  });

  test('BENCH-5 a rate becomes worse when it falls', () => {
    const rate = { kind: 'rate' } as const;
    assert.deepEqual(
      [regressions(pair(60, rate), pair(100, rate)).length, regressions(pair(200, rate), pair(100, rate)).length],
      [1, 0],
    );
  });

  test('BENCH-6 a count must be the same, also if it became smaller', () => {
    const count = (value: number) => [figure({ kind: 'count', value })];
    assert.deepEqual(regressions(count(468), count(468)), []);
    for (const value of [467, 469]) assert.equal(regressions(count(value), count(468)).length, 1);
  });

  test('BENCH-6 a size may shrink, and grow by two percent', () => {
    const size = (value: number) => [figure({ kind: 'size', value })];
    const found = [500, 1019, 1021].map(value => regressions(size(value), size(1000)).length);
    assert.deepEqual(found, [0, 0, 1]);
  });

  test('BENCH-6 an estimate is not compared', () => {
    const now = pair(90, { kind: 'estimate' });
    assert.equal(checkResult(result(now), result(pair(1, { kind: 'estimate' }))).compared, 0);
  });

  test("BENCH-6 upstream's counts do not matter", () => {
    const counts = (value: number) => [figure({ kind: 'count', subject: 'theirs', value })];
    assert.equal(checkResult(result(counts(1)), result(counts(2))).compared, 0);
  });

  test('BENCH-7 figures that a run did not measure are named, and are no regression', () => {
    const outcome = checkResult(result(pair(10)), result([...pair(10), ...pair(10, { size: '5000x5' })]));
    assert.deepEqual(outcome, {
      compared: 1,
      regressions: [],
      missing: ['ours: cold start, 5000x5, first sync beside theirs'],
    });
  });

  test('BENCH-7 a figure of 0 has no ratio', () => {
    assert.equal(checkResult(result(pair(10)), result(pair(0))).compared, 0);
    assert.deepEqual(regressions(pair(0), pair(10)), []);
  });
});
