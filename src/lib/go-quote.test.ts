import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goQuote } from './go-quote.ts';

const cases: [text: string, quoted: string][] = [
  ['', '""'],
  ['plain ~ text', '"plain ~ text"'],
  ['"a\\b"', '"\\"a\\\\b\\""'],
  ['\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
  ['\x00\x1f\x7f', '"\\x00\\x1f\\x7f"'],
  ['grün 日本 €', '"grün 日本 €"'],
  ['\u00a0\u200b\ufeff', '"\\u00a0\\u200b\\ufeff"'],
  ['😀\u{e0001}', '"😀\\U000e0001"'],
  ['\ud800', '"\\ufffd"'],
];
for (const [text, quoted] of cases) {
  test(`LIB-4 ${JSON.stringify(text)} is quoted as Go quotes it`, () => assert.equal(goQuote(text), quoted));
}
