import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeBetween, latestOf } from './change.ts';

test('the change between two versions is an addition, an update or a removal', () => {
  assert.deepEqual(changeBetween(undefined, 2), { type: 'added', to: 2 });
  assert.deepEqual(changeBetween(1, 2), { type: 'updated', from: 1, to: 2 });
  assert.deepEqual(changeBetween(1, undefined), { type: 'removed', from: 1 });
  assert.equal(changeBetween(undefined, undefined), undefined);
});

test('the latest version of a removed thing is its last one', () => {
  assert.equal(latestOf({ type: 'added', to: 2 }), 2);
  assert.equal(latestOf({ type: 'updated', from: 1, to: 2 }), 2);
  assert.equal(latestOf({ type: 'removed', from: 1 }), 1);
});
