import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quoteRule, quoteWord, splitRule } from './rule-text.ts';

/** Lines and their words, as both backends of iptables 1.8.9 read and print them. */
const lines: readonly (readonly [string, readonly string[]])[] = [
  ['-A FOO -j RETURN', ['-A', 'FOO', '-j', 'RETURN']],
  ['--comment "kubernetes service portals" -j X', ['--comment', 'kubernetes service portals', '-j', 'X']],
  [String.raw`--comment "a \"b \\c\'d" -j X`, ['--comment', `a "b \\c'd`, '-j', 'X']],
  [String.raw`--comment a\"b" -j X`, ['--comment', 'a\\b', '-j', 'X']],
  ["--comment 'x' -j X", ['--comment', "'x'", '-j', 'X']],
  [String.raw`--comment \x\ -j X`, ['--comment', '\\x\\', '-j', 'X']],
  ['--comment "a"-j X', ['--comment', 'a', '-j', 'X']],
  [String.raw`--comment	"\n" -j X`, ['--comment', 'n', '-j', 'X']],
  ['--comment "" -j X', ['--comment', '', '-j', 'X']],
  [
    '--nfacct-name  ct_state_invalid_dropped_pkts -j DROP',
    ['--nfacct-name', 'ct_state_invalid_dropped_pkts', '-j', 'DROP'],
  ],
  ['--comment "never closed -j X', ['--comment', 'never closed -j X']],
  ['', []],
  ['   ', []],
];

for (const [text, words] of lines) {
  test(`KERNEL-9 splits into words: ${text === '' ? 'an empty line' : text}`, () =>
    assert.deepEqual(splitRule(text), words));
}

test('KERNEL-9 quotes only words with blanks or quotes, and empty words', () => {
  assert.equal(quoteRule(['-A', 'FOO', '--comment', 'ns/svc:p80']), '-A FOO --comment ns/svc:p80');
  assert.equal(quoteWord('two words'), '"two words"');
  assert.equal(quoteWord('say "hi"\\'), String.raw`"say \"hi\"\\"`);
  assert.equal(quoteWord(''), '""');
});

test('KERNEL-9 refuses a word with a line feed or a zero byte', () => {
  assert.throws(() => quoteWord('a\nCOMMIT'), RangeError);
  assert.throws(() => quoteWord('a\0b'), RangeError);
});

const word = fc.string({ unit: fc.constantFrom(...'ab"\\\' \t-#!ü€') });

test('KERNEL-9 splitting a quoted rule gives the same words', () => {
  fc.assert(fc.property(fc.array(word), words => assert.deepEqual(splitRule(quoteRule(words)), words)));
  fc.assert(
    fc.property(fc.array(fc.string()), words => {
      const sendable = words.map(text => text.replaceAll(/[\n\0]/g, ''));
      assert.deepEqual(splitRule(quoteRule(sendable)), sendable);
    }),
  );
});

test('KERNEL-9 any line splits into words that survive quoting and splitting', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab"\\\' \t') }), text => {
      const words = splitRule(text);
      assert.deepEqual(splitRule(quoteRule(words)), words);
    }),
  );
});
