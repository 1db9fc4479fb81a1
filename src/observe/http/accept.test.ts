import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAccept } from './index.ts';

function forms(accept: string): string[] {
  return parseAccept(accept).map(({ type, subtype, parameters }) =>
    [`${type}/${subtype}`, ...[...parameters].map(([name, value]) => `${name}=${value}`)].join(';'),
  );
}

test('METRICS-8 media types are ordered by preference, then wildcards last, then as the header has them', () => {
  assert.deepEqual(forms('*/*, text/*, b/b;q=0.5, a/a; x=1 , c/c'), ['a/a;x=1', 'c/c', 'text/*', '*/*', 'b/b']);
});

test('METRICS-8 a malformed or empty Accept header is no error', () => {
  assert.deepEqual(forms(',, *;q=x, text, /, a/b;c=;d'), ['text/', '/', 'a/b', '*/*']);
  assert.deepEqual(forms('a/a;q=0.5, b/b;q=x'), ['b/b', 'a/a']);
  assert.deepEqual(forms(' '), []);
});
