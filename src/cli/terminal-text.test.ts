import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columns, NO_BREAK, pad, truncate, visibleLength, wrap } from './terminal-text.ts';

const RED = '\x1b[31mred\x1b[39m';

test('DEMO-5 colour codes do not count as width', () => {
  assert.equal(visibleLength(`${RED} ①`), 5);
  assert.equal(pad(RED, 5), `${RED}  `);
});

test('DEMO-5 a line that is too long is cut, and its colours still end', () => {
  assert.equal(truncate(`${RED} alert`, 6), '\x1b[31mred\x1b[39m a…');
  assert.equal(truncate(RED, 2), '\x1b[31mr\x1b[39m…');
  assert.equal(truncate(RED, 3), RED);
  assert.equal(truncate('abc', 0), '');
});

test('DEMO-5 each column is as wide as its widest cell, and the last one gets no blanks', () => {
  assert.deepEqual(
    columns([
      ['a', 'b', 'c'],
      [RED, 'bb', ''],
    ]),
    ['a    b   c', `${RED}  bb  `],
  );
});

test('CLI-4 text is wrapped between words, and a word that is too long is broken', () => {
  assert.deepEqual(wrap('the quick brown fox', 9), ['the quick', 'brown fox']);
  assert.deepEqual(wrap('the quick brown fox', 8), ['the', 'quick', 'brown', 'fox']);
  assert.deepEqual(wrap('a abcdefg b', 3), ['a', 'abc', 'def', 'g b']);
  assert.deepEqual(wrap(`${RED} ${RED} x`, 7), [`${RED} ${RED}`, 'x']);
  assert.deepEqual(wrap(`a${NO_BREAK}b c${NO_BREAK}d`, 6), ['a b', 'c d']);
  assert.deepEqual(wrap(RED, 2), ['\x1b[31mre', 'd\x1b[39m']);
  assert.deepEqual(wrap('', 5), ['']);
  assert.deepEqual(wrap('ab', 0), ['a', 'b']);
});
