import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Breaks, sortWithBreaks } from './breaks.ts';

test('HISTORY-25 a list that is sorted with breaks has the order of the native sort', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat(500), { maxLength: 5000, size: 'max' }), async numbers => {
      const items = numbers.map((key, i) => ({ key, i }));
      const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
      assert.deepEqual(await sortWithBreaks(items, compare, new Breaks()), items.toSorted(compare));
    }),
    { numRuns: 30 },
  ));

test('HISTORY-25 other work runs while a long list is sorted', async () => {
  const items = Array.from({ length: 200_000 }, (_, i) => `name-${(i * 7919) % 200_000}`);
  let turns = 0;
  let isSorting = true;
  const count = () => {
    turns++;
    if (isSorting) setImmediate(count);
  };
  setImmediate(count);
  const sorted = await sortWithBreaks(items, (a, b) => (a < b ? -1 : 1), new Breaks());
  isSorting = false;
  assert.equal(sorted.length, 200_000);
  assert.ok(turns > 3, `${turns} turns`);
});
