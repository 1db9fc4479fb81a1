import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten, shortenToBytes } from './shorten.ts';

test('LIB-5 a text that is too long is cut and says how long it was', () => {
  assert.equal(shorten('abc', 3), 'abc');
  assert.equal(shorten('x'.repeat(1000), 40), `${'x'.repeat(21)}… (1000 characters)`);
  assert.equal(shorten('x'.repeat(1000), 40).length, 40);
  assert.equal(shorten('x'.repeat(1000), 1), '… (1000 characters)');
});

test('LIB-5 a cut never splits a character', () => {
  assert.equal(shorten(`${'x'.repeat(20)}😀${'x'.repeat(978)}`, 40), `${'x'.repeat(20)}… (1000 characters)`);
  assert.equal(shortenToBytes('üüü', 6), 'üüü');
  assert.equal(shortenToBytes('üüüü', 6), 'ü…');
  assert.equal(shortenToBytes('xü😀x', 7), 'xü…');
});
