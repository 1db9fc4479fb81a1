import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable, printableJson } from './printable.ts';

test('LIB-6 characters that control a terminal or change the order of a text are escaped', () => {
  assert.equal(printable('plain "text" \\ ünï → 日本 😀'), 'plain "text" \\ ünï → 日本 😀');
  assert.equal(printable('\x1b[2J\r\x07\x7f\x9b1m\x00'), '\\x1b[2J\\r\\a\\x7f\\u009b1m\\x00');
  assert.equal(printable('a\u202eb\u2028c\ud800'), 'a\\u202eb\\u2028c\\ufffd');
  assert.equal(printable('one\ttwo\nthree'), 'one\\ttwo\\nthree');
});

test('LIB-6 JSON has no such characters either, and means the same', () => {
  const value = { '\x1b\x7f': ['\x9b2J', '\u202e', '\u{e0001}', 'ü😀'] };
  const text = printableJson(JSON.stringify(value));
  assert.equal(text, '{"\\u001b\\u007f":["\\u009b2J","\\u202e","\\udb40\\udc01","ü😀"]}');
  assert.deepEqual(JSON.parse(text), value);
});
