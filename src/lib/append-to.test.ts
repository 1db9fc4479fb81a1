import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendTo } from './append-to.ts';

test('values are appended to the list of their key', () => {
  const lists = new Map<string, number[]>();
  appendTo(lists, 'a', 1);
  appendTo(lists, 'b', 2);
  appendTo(lists, 'a', 3);
  assert.deepEqual(Object.fromEntries(lists), { a: [1, 3], b: [2] });
});
