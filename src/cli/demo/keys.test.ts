import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keysOf } from './keys.ts';

test('DEMO-8 the keys of terminals and pagers are understood, also several at once', () => {
  assert.deepEqual(keysOf('\x1b[A\x1bOB\x1b[5~\x1b[6~ '), ['up', 'down', 'page-up', 'page-down', 'page-down']);
  assert.deepEqual(keysOf('\x1b[H\x1b[F\x1bOH\x1b[4~gG'), ['home', 'end', 'home', 'end', 'home', 'end']);
  assert.deepEqual(keysOf('jkq\x03'), ['down', 'up', 'quit', 'quit']);
});

test('DEMO-8 other keys have no meaning, and the letters in their codes neither', () => {
  assert.deepEqual(keysOf('x\r\n\x1b[15~\x1b[1;5q\x1bOq\u00e9'), []);
});
