import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeySequence } from './keys.ts';
import { documentTitle } from './titles.ts';

test('PAGE-45 single keys, and two keys in a row, are actions', () => {
  const keys = new KeySequence();
  assert.deepEqual(keys.press('/', 0), { kind: 'search' });
  assert.deepEqual(keys.press('?', 0), { kind: 'help' });
  assert.equal(keys.press('s', 0), undefined, 'not without g');
  assert.equal(keys.press('g', 100), undefined);
  assert.deepEqual(keys.press('t', 200), { kind: 'view', view: 'timeline' });
  assert.equal(keys.press('t', 300), undefined, 'g counts once');
});

test('PAGE-45 the second key must come soon, and any other key ends the wait', () => {
  const keys = new KeySequence();
  keys.press('g', 0);
  assert.equal(keys.press('a', 2000), undefined);
  keys.press('g', 3000);
  keys.press('x', 3100);
  assert.equal(keys.press('a', 3200), undefined);
});

test('PAGE-46 the title of the document names the view, the node and the page', () => {
  assert.equal(documentTitle({ view: 'service', words: ['shop', 'cart'] }, 'node-a'), 'shop/cart · node-a · Pointsman');
  assert.equal(documentTitle({ view: 'ask', words: [] }, undefined), 'Ask · Pointsman');
});
