import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAccept } from './index.ts';

function forms(accept: string): string[] {
  return parseAccept(accept).map(({ type, subtype, parameters }) =>
    [`${type}/${subtype}`, ...[...parameters].map(([name, value]) => `${name}=${value}`)].join(';'),
  );
}

test('METRICS-8 what is liked best comes first, then what is more particular, then what was named first', () => {
  assert.deepEqual(forms('*/*, text/*, b/b;q=0.5, a/a; x=1 , c/c'), ['a/a;x=1', 'c/c', 'text/*', '*/*', 'b/b']);
});

test('METRICS-8 whatever is sent is read: no type, no value, no quality, nothing', () => {
  assert.deepEqual(forms(',, *;q=x, text, /, a/b;c=;d'), ['text/', '/', 'a/b', '*/*']);
  assert.deepEqual(forms(' '), []);
});
