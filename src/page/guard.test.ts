import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { type HttpHandler, type HttpRequest, textAnswer } from '../observe/http/index.ts';
import { type GuardOptions, guarded } from './guard.ts';
import { parseToken } from './token.ts';

const TOKEN = 'the-right-token-0123456789';

function guard(options: Partial<GuardOptions>): HttpHandler {
  const handle = () => textAnswer(200, '');
  return guarded(handle, { token: undefined, hostNames: ['node-a'], clock: new ManualClock(), ...options });
}

async function statusOf(handle: HttpHandler, path: string, headers: HttpRequest['headers']): Promise<number> {
  const target = { path, rawPath: path, rawQuery: undefined, query: new URLSearchParams(), method: 'GET' };
  const disconnected = new AbortController().signal;
  const request = { ...target, headers, peer: '192.168.0.9', disconnected, text: async () => '' };
  return (await handle(request)).status;
}

describe('who may ask the page', () => {
  test('PAGE-7 PAGE-10 strangers at the same address are limited, and never lock out the right token', async () => {
    const token = parseToken('token', TOKEN);
    const handle = guard({ token: () => token });
    const ask = (given: string | undefined, path = '/v1/status') =>
      statusOf(handle, path, { host: 'node-a', ...(given !== undefined && { 'pointsman-token': given }) });
    for (let i = 0; i < 100; i++) assert.equal(await ask('wrong'), 401);
    for (let i = 0; i < 50; i++) assert.equal(await ask(undefined), 401);
    for (let i = 0; i < 50; i++) assert.equal(await ask(undefined, '/app.js'), 200);
    assert.deepEqual([await ask('wrong'), await ask(undefined), await ask(undefined, '/')], [429, 429, 429]);
    for (let i = 0; i < 200; i++) assert.equal(await ask(TOKEN), 200);
    assert.equal(await ask(TOKEN), 429);
  });

  test('PAGE-10 another site in the same browser does not lock the operator out', async () => {
    const handle = guard({});
    const ask = (site: string) => statusOf(handle, '/v1/status', { host: 'localhost', 'sec-fetch-site': site });
    for (let i = 0; i < 200; i++) assert.equal(await ask('cross-site'), 403);
    assert.equal(await ask('cross-site'), 429);
    assert.equal(await ask('same-origin'), 200);
  });
});
