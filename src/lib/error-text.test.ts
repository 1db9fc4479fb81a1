import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorCode } from './error-code.ts';
import { asError, errorText } from './error-text.ts';

test('whatever is thrown has a text and can be converted to an Error', () => {
  const error = new RangeError('too long');
  assert.equal(errorText(error), 'too long');
  assert.equal(errorText('a text'), 'a text');
  assert.equal(asError(error), error);
  assert.equal(asError(undefined).message, 'undefined');
});

test('an error of Node has a code, others have none', () => {
  try {
    readFileSync('/no/such/file');
    assert.fail();
  } catch (error) {
    assert.equal(errorCode(error), 'ENOENT');
  }
  assert.equal(errorCode(new Error('plain')), undefined);
  assert.equal(errorCode(Object.assign(new Error(), { code: 7 })), undefined);
  assert.equal(errorCode('a text'), undefined);
});
