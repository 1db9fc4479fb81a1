import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { intern } from './intern.ts';

test('LIB-2 interned text is the same text, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      assert.equal(intern(text), text);
      assert.equal(intern(text), text);
    }),
  );
  assert.equal(intern('\ud800 alone'), '\ud800 alone');
});

test('LIB-2 the table of interned texts stays bounded and right when it starts afresh', () => {
  for (let i = 0; i < 70_000; i++) assert.equal(intern(`name-${i}`), `name-${i}`);
  assert.equal(intern('name-1'), 'name-1');
});
