import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlderVersion, newestVersion, reachesVersion } from './resource-version.ts';

test('PROGRAMMED-1 resource versions compare as whole numbers of any length', () => {
  assert.equal(isOlderVersion('9', '10'), true);
  assert.equal(isOlderVersion('18446744073709551617', '18446744073709551616'), false);
  assert.equal(newestVersion(['9', '100', '20']), '100');
  assert.equal(newestVersion([]), undefined);
  assert.equal(reachesVersion('100', '99'), true);
  assert.equal(reachesVersion('100', '101'), false);
  assert.equal(reachesVersion(undefined, '1'), false);
});

test('PROGRAMMED-1 versions that are no numbers have no order, and reach only themselves', () => {
  assert.equal(isOlderVersion('a', '10'), undefined);
  assert.equal(newestVersion(['a', '10']), undefined);
  assert.equal(newestVersion(['a', 'a']), 'a');
  assert.equal(reachesVersion('a', 'a'), true);
  assert.equal(reachesVersion('b', 'a'), false);
});
