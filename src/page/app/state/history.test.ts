import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryRow } from '../../../inspect/index.ts';
import { mergeEntries } from './history.ts';

const entry = (id: number, change = '') => ({ id, change }) as HistoryRow;

test('PAGE-36 the page keeps a bounded number of entries of the history, without doubles', () => {
  const known = mergeEntries([], [entry(1), entry(2), entry(3)], 3);
  const more = mergeEntries(known, [entry(4)], 3);
  assert.deepEqual(more, [entry(2), entry(3), entry(4)]);
  assert.deepEqual(mergeEntries(more, [entry(3, 'newer'), entry(1), entry(5)], 4), [
    entry(2),
    entry(3, 'newer'),
    entry(4),
    entry(5),
  ]);
});
