import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alignLists } from './align-lists.ts';

function aligned(left: string, right: string): string {
  return alignLists([...left], [...right])
    .map(pair => `${pair.left ?? '-'}${pair.right ?? '-'}`)
    .join(' ');
}

test('READ-3 equal items of two lists stand side by side, and others stand for each other or alone', () => {
  assert.equal(aligned('abc', 'abc'), 'aa bb cc');
  assert.equal(aligned('abc', 'ac'), 'aa b- cc');
  assert.equal(aligned('abc', 'axbc'), 'aa -x bb cc');
  assert.equal(aligned('abc', 'axc'), 'aa bx cc');
  assert.equal(aligned('abcd', 'bcda'), 'a- bb cc dd -a');
  assert.equal(aligned('', 'ab'), '-a -b');
  assert.equal(aligned('ab', ''), 'a- b-');
  assert.equal(aligned('aab', 'ab'), 'aa a- bb');
});

test('READ-3 lists with long differing parts are paired item by item', () => {
  const left = Array.from({ length: 1000 }, (_, i) => `left ${i}`);
  const right = Array.from({ length: 999 }, (_, i) => `right ${i}`);
  const pairs = alignLists(['first', ...left], ['first', ...right]);
  assert.equal(pairs.length, 1001);
  assert.deepEqual(pairs[1], { left: 'left 0', right: 'right 0' });
  assert.deepEqual(pairs.at(-1), { left: 'left 999', right: undefined });
});
