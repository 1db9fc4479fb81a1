import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryRow } from '../../../../inspect/index.ts';
import { formatKinds, LANES, parseKinds, toggled, wordsOf } from './lanes.ts';
import { countsOf, inSpan, marksOf, timed } from './marks.ts';
import { pulseRows } from './pulse-rows.ts';

const SPAN = { from: 0, until: 1000 };

function entry(id: number, at: number, kind: string): HistoryRow {
  return { id, kind, time: new Date(at).toISOString(), change: '' } as HistoryRow;
}

test('PAGE-90 every kind of the history has its lane, and an unknown kind is a problem', () => {
  const lane = (kind: string) => wordsOf({ kind }).lane;
  assert.deepEqual(
    ['change', 'sync', 'syncFailed', 'repair', 'setAside', 'recovered', 'configuration', 'watchFailed'].map(lane),
    ['changes', 'syncs', 'syncs', 'repairs', 'refusals', 'problems', 'configuration', 'watches'],
  );
  assert.deepEqual([lane('invented'), wordsOf({ kind: 'invented' }).word], ['problems', 'invented']);
});

test('PAGE-90 seconds with syncs are entries of the lane of syncs', () => {
  const pulse = { at: 5000, syncs: 2, failedSyncs: 1, syncMs: 7, changes: 0 };
  const [row, ...others] = pulseRows([pulse, { ...pulse, at: 6000, syncs: 0, failedSyncs: 0 }]);
  assert.deepEqual(others, []);
  assert.deepEqual([row?.id, row?.kind, row?.syncMs], [-5, 'sync', 7]);
  assert.equal(row?.change, '2 syncs in this second, of which 1 failed');
});

test('PAGE-92 the address names the lanes; the last one stays', () => {
  assert.equal(parseKinds('').size, LANES.length);
  assert.equal(parseKinds('nonsense').size, LANES.length);
  const two = parseKinds('repairs,changes');
  assert.deepEqual([...two].sort(), ['changes', 'repairs']);
  assert.equal(formatKinds(two), 'changes,repairs');
  assert.equal(formatKinds(parseKinds('')), '');
  assert.equal(formatKinds(toggled(two, 'repairs')), 'changes');
  assert.equal(formatKinds(toggled(parseKinds('changes'), 'changes')), 'changes');
});

test('PAGE-93 near entries of a lane share a mark, which has the tone of the worst', () => {
  const entries = timed([
    entry(1, 10, 'sync'),
    entry(3, 30, 'sync'),
    entry(2, 20, 'syncFailed'),
    entry(4, 40, 'change'),
    entry(5, 990, 'sync'),
    entry(6, 1000, 'sync'),
    entry(7, 1001, 'sync'),
  ]);
  assert.deepEqual(
    marksOf(entries, SPAN, 10).map(({ lane, bucket, count, tone, last }) => [lane, bucket, count, tone, last.entry.id]),
    [
      ['syncs', 0, 3, 'bad', 3],
      ['changes', 0, 1, 'accent', 4],
      ['syncs', 9, 2, 'quiet', 6],
    ],
  );
});

test('PAGE-93 however many entries there are, a lane has no more marks than buckets', () => {
  const many = timed(Array.from({ length: 5000 }, (_, i) => entry(i, i % 1000, i % 2 === 0 ? 'change' : 'repair')));
  assert.equal(marksOf(many, SPAN, 50).length, 100);
});

test('PAGE-90 the overview counts entries by bucket and lane', () => {
  const entries = timed([entry(1, 0, 'change'), entry(2, 1, 'change'), entry(3, 999, 'repair')]);
  const [first = [], second = []] = countsOf(entries, SPAN, 2);
  const of = (counts: readonly number[]) => LANES.flatMap(({ id }, i) => (counts[i] ? [`${id} ${counts[i]}`] : []));
  assert.deepEqual([of(first), of(second)], [['changes 2'], ['repairs 1']]);
});

test('PAGE-94 the table has the entries of the chosen time, both ends included', () => {
  const entries = timed([5, 10, 15, 20, 25].map(at => entry(at, at, 'change')));
  assert.deepEqual(
    inSpan(entries, { from: 10, until: 20 }).map(({ at }) => at),
    [10, 15, 20],
  );
  assert.deepEqual(inSpan(entries, { from: 26, until: 30 }), []);
});
