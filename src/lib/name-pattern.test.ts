import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNamePattern } from './name-pattern.ts';

const KEYS = ['default/web', 'default/web-2', 'shop/web', 'shop/cart', 'web/shop', 'default/wxb'];

function matched(pattern: string): readonly string[] {
  return KEYS.filter(key => parseNamePattern(pattern).matches(key));
}

test('HISTORY-20 a name without a namespace is in the namespace default', () => {
  assert.deepEqual(matched('web'), ['default/web']);
  assert.deepEqual(matched('shop/web'), ['shop/web']);
  assert.equal(parseNamePattern('web').text, 'default/web');
  assert.equal(parseNamePattern('web').isExact, true);
});

test('HISTORY-20 a glob without a slash means the names of every namespace', () => {
  assert.deepEqual(matched('web*'), ['default/web', 'default/web-2', 'shop/web']);
  assert.deepEqual(matched('w?b'), ['default/web', 'shop/web', 'default/wxb']);
  assert.equal(parseNamePattern('w?b').isExact, false);
});

test('HISTORY-20 a glob never crosses the slash, and all other characters stand for themselves', () => {
  assert.deepEqual(matched('shop/*'), ['shop/web', 'shop/cart']);
  assert.deepEqual(matched('*/*'), KEYS);
  assert.deepEqual(matched('w.b*'), []);
  assert.deepEqual(matched('*b+'), []);
  assert.deepEqual(matched('web-*'), ['default/web-2']);
  assert.deepEqual(matched('*hop/*e*'), ['shop/web']);
  assert.deepEqual(matched('**/??b'), ['default/web', 'shop/web', 'default/wxb']);
  assert.deepEqual(parseNamePattern('a[b]*').matches('x/a[b]c'), true);
});

test('HISTORY-20 a glob with very many stars takes no time', () => {
  const glob = parseNamePattern(`x/${'*a'.repeat(100)}b`);
  assert.equal(glob.matches(`x/${'a'.repeat(250)}`), false);
});
