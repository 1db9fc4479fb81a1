import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pairs, ratioText } from '../../bench/record/compare.ts';
import { commandText, parseResult, SCHEMA } from '../../bench/record/result.ts';
import { quantiles, repeated, shortened, single, thinned } from '../../bench/record/statistics.ts';
import { rowsOf } from '../../bench/record/tables.ts';
import { goalsOf } from '../../bench/record/targets.ts';
import { figure } from './sample-results.ts';

const HEAD = {
  part: 'cold start',
  size: '1000x5',
  subject: 'ours',
  name: 'first sync',
  unit: 'ms',
  kind: 'time',
} as const;

describe('figures of benches', () => {
  test('BENCH-1 a repeated figure is the median, with the least and the greatest value', () => {
    const { value, samples, spread } = repeated(HEAD, [30, 10, 20]);
    assert.deepEqual({ value, samples, spread }, { value: 20, samples: 3, spread: [10, 30] });
  });

  test('BENCH-1 quantiles are two figures', () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    const found = quantiles(HEAD, values).map(({ name, value }) => [name, value]);
    assert.deepEqual(found, [
      ['first sync p50', 50],
      ['first sync p99', 99],
    ]);
  });

  test('BENCH-1 values have three digits, or all digits of their integer part', () => {
    assert.deepEqual([0.012345, 12.345, 1234.5].map(shortened), [0.0123, 12.3, 1235]);
    assert.equal(single(HEAD, 1.23456).value, 1.23);
  });

  test('BENCH-1 a series keeps its first and its last point', () => {
    const points = Array.from({ length: 1000 }, (_, i) => i);
    const short = thinned(points, 10);
    assert.deepEqual([short.length, short[0], short.at(-1)], [10, 0, 999]);
    assert.equal(thinned(points, 1000), points);
  });

  test('BENCH-2 the command of a result has no folders of the machine', () => {
    assert.equal(
      commandText('cluster', ['--upstream', '/a/b/kube-proxy', '--ours=/c/d', '--quick']),
      'npm run bench -- cluster --upstream kube-proxy --ours=d --quick',
    );
  });

  test('BENCH-2 a file of another schema is refused', () => {
    assert.throws(() => parseResult('{"schema":"pointsman-bench/0"}', 'old.json'), /old\.json is not a result/);
    assert.equal(parseResult(`{"schema":"${SCHEMA}"}`, 'new.json').schema, SCHEMA);
  });

  test('BENCH-3 a ratio is how many times better ours is: less time, or a greater rate', () => {
    const figures = [
      figure({ subject: 'ours', value: 10 }),
      figure({ subject: 'theirs', value: 50 }),
      figure({ subject: 'ours', name: 'rate', kind: 'rate', value: 300 }),
      figure({ subject: 'theirs', name: 'rate', kind: 'rate', value: 100 }),
      figure({ subject: 'ours', name: 'only ours', value: 1 }),
    ];
    assert.deepEqual(
      pairs(figures, 'ours', 'theirs').map(({ ratio }) => ratio),
      [5, 3],
    );
    assert.deepEqual([4.23, 42.3, Number.NaN, Number.POSITIVE_INFINITY].map(ratioText), ['4.2×', '42×', '–', '–']);
  });

  test('BENCH-3 a table has a row for each figure and a column for each subject', () => {
    const figures = [
      figure({ subject: 'ours', value: 10, spread: [9, 12] }),
      figure({ subject: 'theirs', value: 50, spread: [50, 50] }),
    ];
    assert.deepEqual(rowsOf(figures, 'ours', 'theirs'), [
      { figure: 'first sync, ms', ours: '10 (9–12)', theirs: '50', better: '5×' },
    ]);
  });

  test('BENCH-4 a target with a ratio is checked at every size, and one with a limit without upstream', () => {
    const figures = ['1000x5', '5000x5'].flatMap((size, i) => [
      figure({ size, subject: 'ours', value: 10 }),
      figure({ size, subject: 'theirs', value: i === 0 ? 40 : 60 }),
    ]);
    const targets = [
      { part: 'cold start', name: 'first sync', timesBetter: 5 },
      { part: 'cold start', name: 'first sync', atMost: 10 },
      { part: 'cold start', name: 'not measured', atMost: 10 },
    ];
    const reached = (theirs: string | undefined) =>
      goalsOf(figures, targets, 'ours', theirs).map(({ size, isReached }) => [size, isReached]);
    const limits = [
      ['1000x5', true],
      ['5000x5', true],
    ];
    assert.deepEqual(reached('theirs'), [['1000x5', false], ['5000x5', true], ...limits]);
    assert.deepEqual(reached(undefined), limits);
  });
});
