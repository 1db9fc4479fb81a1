import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecord } from './is-record.ts';

test('a map is a record; lists, null and other values are not', () => {
  assert.ok(isRecord({}));
  assert.ok(isRecord({ a: 1 }));
  for (const value of [[], null, undefined, 1, 'text', true]) assert.ok(!isRecord(value));
});
