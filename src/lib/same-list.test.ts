import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameList } from './same-list.ts';

test('lists are the same if their items are, in the same order', () => {
  assert.ok(sameList([], []));
  assert.ok(sameList(['a', 'b'], ['a', 'b']));
  assert.ok(!sameList(['a', 'b'], ['b', 'a']));
  assert.ok(!sameList(['a'], ['a', 'b']));
  assert.ok(!sameList(['a', 'b'], ['a']));
  assert.ok(!sameList([{ n: 1 }], [{ n: 1 }]));
  assert.ok(sameList([{ n: 1 }], [{ n: 1 }], (a, b) => a.n === b.n));
});
