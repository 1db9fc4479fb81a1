import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { unlessAborted } from './abortable.ts';
import type { ApiResponse } from './api-client.ts';
import { silentLog } from './client-log.ts';
import { HttpApiClient } from './http-api-client.ts';
import { rateLimiters } from './rate-limiter.ts';
import { countedBody, type RequestObservation } from './request-observation.ts';
import type { Transport } from './transport/transport.ts';

/** A body that counts how often its reader returned early. */
function endlessBody() {
  const calls = { returned: 0 };
  const body: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => body,
    next: async () => ({ done: false, value: Buffer.from('more') }),
    return: async () => {
      calls.returned++;
      return { done: true, value: undefined };
    },
  };
  return { body, calls };
}

/** A client whose transport gives these answers, one after the other. */
function clientOf(answers: readonly ApiResponse[], qps = -1, burst = 0) {
  const clock = new ManualClock();
  const observations: RequestObservation[] = [];
  const left = [...answers];
  const client = new HttpApiClient({
    config: {
      server: new URL('https://10.0.0.1'),
      origin: 'a test',
      tls: { insecure: false },
      disableCompression: false,
      user: {},
    },
    acceptContentTypes: '',
    contentType: 'a/b',
    credentials: { current: async () => ({}), refresh: async () => ({}) },
    limiterOf: rateLimiters(qps, burst, clock),
    transport: { send: async () => left.shift() ?? assert.fail('no more answers') } as unknown as Transport,
    observe: observation => observations.push(observation),
    clock,
    random: () => 0,
    log: silentLog,
  });
  return { client, clock, observations };
}

describe('requests', () => {
  test('CLIENT-12 the client ends the body of an answer before it retries', async () => {
    const { body, calls } = endlessBody();
    const busy = { status: 429, headers: { 'retry-after': '0' }, body };
    const { client, clock } = clientOf([busy, { status: 200, headers: {}, body }]);
    const request = client.request({ path: '/x', accept: 'a/b' });
    await clock.advance(0);
    assert.equal((await request).status, 200);
    assert.equal(calls.returned, 1);
  });

  test('CLIENT-9 each retry waits for the rate limit', async () => {
    const { body } = endlessBody();
    const busy = { status: 429, headers: { 'retry-after': '0' }, body };
    const { client, clock, observations } = clientOf([busy, { status: 200, headers: {}, body }], 1, 1);
    const request = client.request({ path: '/x', accept: 'a/b' });
    await clock.advance(1000);
    await request;
    const waits = observations.flatMap(seen => (seen.kind === 'rate-limited' ? seen.milliseconds : []));
    assert.deepEqual(waits, [0, 1000]);
  });

  test('CLIENT-9 a request that is aborted while it waits for the rate limit rejects', async () => {
    const { body } = endlessBody();
    const { client, clock } = clientOf([{ status: 200, headers: {}, body }], 1, 1);
    await client.request({ path: '/x', accept: 'a/b' });
    const controller = new AbortController();
    const waiting = client.request({ path: '/x', accept: 'a/b', signal: controller.signal });
    await clock.advance(0);
    controller.abort();
    await assert.rejects(waiting, { code: 'aborted' });
    assert.equal(clock.pending, 0);
  });
});

describe('CLIENT-13 counted bodies', () => {
  test('a body that breaks off is reported once, with the bytes that came', async () => {
    const ends: number[] = [];
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('four');
      throw new Error('cut off');
    }
    const body = countedBody(broken(), bytes => ends.push(bytes));
    await body.next();
    await assert.rejects(body.next(), /cut off/);
    assert.deepEqual(ends, [4]);
    await body.return?.();
    assert.deepEqual(ends, [4]);
  });

  test('a body whose reader returns early is reported, and its transfer ends', async () => {
    const ends: number[] = [];
    const { body, calls } = endlessBody();
    const counted = countedBody(body, bytes => ends.push(bytes));
    await counted.next();
    await counted.return?.();
    assert.deepEqual([ends, calls.returned], [[4], 1]);
  });
});

describe('CLIENT-12 signals', () => {
  test('a signal that is aborted already rejects at once', async () => {
    await assert.rejects(unlessAborted(new Promise(() => {}), AbortSignal.abort()), { code: 'aborted' });
  });

  test('nothing listens to the signal after the end', async () => {
    const { signal } = new AbortController();
    await unlessAborted(Promise.resolve(), signal);
    await new Promise(setImmediate);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
