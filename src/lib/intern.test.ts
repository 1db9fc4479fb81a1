import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { intern, internList } from './intern.ts';

test('LIB-2 an interned text is equal to the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      assert.equal(intern(text), text);
      assert.equal(intern(text), text);
    }),
  );
  assert.equal(intern('\ud800 alone'), '\ud800 alone');
});

test('LIB-2 a full table of interned texts is emptied, and texts stay right', () => {
  for (let i = 0; i < 70_000; i++) assert.equal(intern(`name-${i}`), `name-${i}`);
  assert.equal(intern('name-1'), 'name-1');
});

test('LIB-2 equal lists of names are one list', () => {
  const list = internList(['zone-a', 'zone-b']);
  assert.equal(internList(['zone-a', 'zone-b']), list);
  assert.deepEqual(internList(['zone-b', 'zone-a']), ['zone-b', 'zone-a']);
  assert.deepEqual(internList(['zone-a\0zone-b']), ['zone-a\0zone-b']);
  for (let i = 0; i < 5000; i++) assert.deepEqual(internList([`zone-${i}`]), [`zone-${i}`]);
});
