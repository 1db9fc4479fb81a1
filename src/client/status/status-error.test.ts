import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApiResponse } from '../api-client.ts';
import { decodeStatus } from './status.ts';
import { discard, errorOfStatus, statusError } from './status-error.ts';

/** As an API server 1.36 sent it for a Service that does not exist. */
const NOT_FOUND = Buffer.from(
  '6b3873000a0c0a027631120653746174757312550a060a0012001a0012074661696c7572651a1b736572766963657320226e6f7375636822206e' +
    '6f7420666f756e6422084e6f74466f756e642a180a066e6f7375636812001a087365727669636573280032003094031a002200',
  'hex',
);

function response(status: number, body: Uint8Array | string, headers: ApiResponse['headers'] = {}): ApiResponse {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return {
    status,
    headers,
    body: (async function* () {
      for (let at = 0; at < bytes.length; at += 40) yield bytes.subarray(at, at + 40);
    })(),
  };
}

test('CLIENT-11 a Status in protobuf is read', async () => {
  assert.deepEqual(decodeStatus(NOT_FOUND), {
    message: 'services "nosuch" not found',
    reason: 'NotFound',
    code: 404,
    retryAfterSeconds: undefined,
  });
  const error = await statusError(response(404, NOT_FOUND));
  assert.equal(error.message, 'services "nosuch" not found');
  assert.deepEqual([error.code, error.status, error.reason], ['status', 404, 'NotFound']);
});

test('CLIENT-11 a Status in JSON is read, and its message is the message', async () => {
  const message =
    'services is forbidden: User "x" cannot list resource "services" in API group "" at the cluster scope';
  const status = { kind: 'Status', apiVersion: 'v1', message, reason: 'Forbidden', code: 403, details: {} };
  const error = await statusError(response(403, JSON.stringify(status)));
  assert.deepEqual([error.message, error.status, error.reason], [message, 403, 'Forbidden']);
});

test('CLIENT-11 a 401 says what to do', async () => {
  const body = JSON.stringify({ kind: 'Status', message: 'Unauthorized', reason: 'Unauthorized', code: 401 });
  const error = await statusError(response(401, body));
  assert.match(error.message, /does not accept the credentials \(401 Unauthorized\): renew the token or certificate/);
});

test('CLIENT-11 an answer that is no Status is shown as it is, within bounds', async () => {
  const plain = await statusError(response(400, 'Client sent an HTTP request to an HTTPS server.\n'));
  assert.equal(plain.message, 'the server answered with status 400: Client sent an HTTP request to an HTTPS server.');
  assert.equal((await statusError(response(502, ''))).message, 'the server answered with status 502');
  assert.ok((await statusError(response(502, '<html>'.repeat(200_000)))).message.length < 600);
});

test('CLIENT-11 when to come back is taken from the header, else from the Status', async () => {
  const body = JSON.stringify({ kind: 'Status', message: 'busy', code: 429, details: { retryAfterSeconds: 7 } });
  assert.equal((await statusError(response(429, body, { 'retry-after': '3' }))).retryAfterSeconds, 3);
  assert.equal((await statusError(response(429, body))).retryAfterSeconds, 7);
});

test('CLIENT-11 a body that breaks off leaves the status', async () => {
  const broken = {
    ...response(500, ''),
    body: (async function* () {
      yield Buffer.from('half');
      throw new Error('gone');
    })(),
  };
  assert.equal((await statusError(broken)).message, 'the server answered with status 500: half');
});

test('CLIENT-11 no bytes make the decoder throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), bytes => void decodeStatus(bytes)));
  const magic = NOT_FOUND.subarray(0, 4);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), bytes => void decodeStatus(Buffer.concat([magic, bytes]))));
  for (let end = 0; end < NOT_FOUND.length; end++) decodeStatus(NOT_FOUND.subarray(0, end));
});

test('CLIENT-11 a Status of a watch becomes an error', () => {
  const error = errorOfStatus({ message: 'too old resource version: 1 (5)', reason: 'Expired', code: 410 });
  assert.deepEqual([error.message, error.status, error.reason], ['too old resource version: 1 (5)', 410, 'Expired']);
});

test('CLIENT-11 a body that nobody wants is ended', async () => {
  let ended = false;
  const body = {
    [Symbol.asyncIterator]: () => ({
      next: () => assert.fail('nothing is read'),
      return: async () => {
        ended = true;
        return { done: true, value: undefined } as const;
      },
    }),
  };
  await discard({ status: 200, headers: {}, body });
  assert.ok(ended);
});
