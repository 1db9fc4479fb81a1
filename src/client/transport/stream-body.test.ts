import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { StreamBody } from './stream-body.ts';

function open(signal?: AbortSignal) {
  const stream = new PassThrough();
  const calls = { cancelled: 0 };
  const toError = () => new Error('cut off');
  const body = new StreamBody(stream, { toError, cancel: () => calls.cancelled++, signal });
  return { stream, body, calls };
}

test('CLIENT-12 a stream that closes without an end or an error is an error', async () => {
  const { stream, body } = open();
  const read = body.next();
  stream.destroy();
  await assert.rejects(read, /cut off/);
});

test('CLIENT-12 a signal that was aborted before the body began aborts it, and ends the transfer', async () => {
  const { body, calls } = open(AbortSignal.abort());
  await assert.rejects(body.next(), { code: 'aborted' });
  assert.equal(calls.cancelled, 1);
});

test('CLIENT-12 nothing listens to the signal after the end of the body', async () => {
  const { signal } = new AbortController();
  const { stream, body } = open(signal);
  stream.end();
  assert.equal((await body.next()).done, true);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
