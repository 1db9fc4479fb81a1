import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Verbosity } from './verbosity.ts';

describe('verbosity', () => {
  test('LOG-4 levels up to the verbosity are enabled, and the verbosity can change', () => {
    const verbosity = new Verbosity(2);
    assert.deepEqual(
      [0, 2, 3].map(level => verbosity.isEnabled(level, 'proxy')),
      [true, true, false],
    );
    verbosity.setLevel(4);
    assert.equal(verbosity.isEnabled(3, 'proxy'), true);
    assert.equal(verbosity.level, 4);
  });

  const patterns: [pattern: string, source: string, matches: boolean][] = [
    ['proxier', 'proxier', true],
    ['proxier', 'src/modes/proxier', true],
    ['proxier', 'proxiers', false],
    ['server', 'server start.ts:23', true],
    ['start', 'server start.ts:23', true],
    ['start.ts', 'server start.ts:23', false],
    ['*server start*', 'server start.ts:23', false],
    ['prox*', 'proxier', true],
    ['*', 'anything', true],
    ['prox?er', 'proxier', true],
    ['prox?er', 'proxer', false],
    ['[n-p]*', 'node', true],
    ['[^n-p]*', 'node', false],
    ['a.c', 'abc', false],
    ['a\\*c', 'a*c', true],
    ['a\\*c', 'abc', false],
    ['[a', '[a', false],
    ['[]', '[]', false],
    ['[z-a]', 'z', false],
  ];
  for (const [filePattern, source, matches] of patterns) {
    test(`LOG-5 the pattern ${filePattern} ${matches ? 'matches' : 'does not match'} ${source}`, () =>
      assert.equal(new Verbosity(0, [{ filePattern, verbosity: 3 }]).isEnabled(3, source), matches));
  }

  test('LOG-5 the first pattern that matches counts, verbosity 0 has no effect, and no pattern lowers the verbosity', () => {
    const verbosity = new Verbosity(2, [
      { filePattern: 'node', verbosity: 0 },
      { filePattern: 'no*', verbosity: 4 },
      { filePattern: 'n*', verbosity: 9 },
      { filePattern: 'proxy', verbosity: 1 },
    ]);
    assert.deepEqual([verbosity.isEnabled(4, 'node'), verbosity.isEnabled(5, 'node')], [true, false]);
    assert.equal(verbosity.isEnabled(2, 'proxy'), true);
    verbosity.setVModule([]);
    assert.equal(verbosity.isEnabled(4, 'node'), false);
  });

  test('LOG-5 new patterns count for files that have logged before, too', () => {
    const verbosity = new Verbosity(0, [{ filePattern: 'node', verbosity: 2 }]);
    assert.equal(verbosity.isEnabled(5, 'node'), false);
    verbosity.setVModule([{ filePattern: 'node', verbosity: 5 }]);
    assert.equal(verbosity.isEnabled(5, 'node'), true);
  });

  test('LOG-5 no pattern throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab[]^-\\*?.{}()|$😀') }),
        fc.string(),
        (filePattern, source) => {
          assert.equal(typeof new Verbosity(0, [{ filePattern, verbosity: 1 }]).isEnabled(1, source), 'boolean');
        },
      ),
    );
  });
});
