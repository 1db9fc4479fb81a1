import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bodyText, eventually, withClient } from '../../test/support/api-client.ts';
import type { AnyRequest, Handler } from '../../test/support/api-server.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { userAgent } from './request-headers.ts';

const ACCEPT = 'application/json';
const ok: Handler = (_request, response) => void response.end('{}');

test('CLIENT-12 the caller gets every answer, whatever its status, with headers and body', () =>
  withClient(
    (_request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain', 'x-some': 'thing' });
      response.end('no such');
    },
    async ({ client }) => {
      const response = await client.request({ path: '/x', accept: ACCEPT });
      assert.equal(response.status, 404);
      assert.equal(response.headers['content-type'], 'text/plain');
      assert.equal(response.headers['x-some'], 'thing');
      assert.equal(await bodyText(response), 'no such');
    },
  ));

test('CLIENT-14 every request has the headers for user agent, content types and impersonation', () => {
  const extra = { 'as-uid': '7', 'as-groups': ['one', 'two'], 'as-user-extra': { 'a/b': ['c'] } };
  return withClient(
    ok,
    async ({ get, server, client }) => {
      await get('/api/v1/services?limit=1');
      const [{ url, headers }] = server.requests as [AnyRequest];
      assert.equal(url, '/behind/api/v1/services?limit=1');
      assert.equal(headers['user-agent'], userAgent());
      assert.equal(headers.accept, ACCEPT);
      assert.equal(headers.authorization, 'Bearer secret');
      assert.equal(headers['impersonate-user'], 'other');
      assert.equal(headers['impersonate-uid'], '7');
      assert.equal(headers['impersonate-group'], 'one, two');
      assert.equal(headers['impersonate-extra-a%2fb'], 'c');
      assert.equal(headers['content-type'], undefined);
      assert.equal(client.host, `127.0.0.1:${server.port}`);
    },
    {
      user: { token: 'secret', as: 'other', ...extra },
      cluster: server => ({ server: `${server.url()}/behind/` }),
    },
  );
});

test('CLIENT-5 the client sends a token that is not ASCII as UTF-8 bytes, over HTTP/2 and HTTP/1.1', async () => {
  for (const env of [{}, { DISABLE_HTTP2: '1' }]) {
    await withClient(
      ok,
      async ({ get, server }) => {
        await get();
        const sent = server.requests[0]?.headers.authorization ?? '';
        assert.equal(Buffer.from(sent, 'latin1').toString(), 'Bearer tök€n');
      },
      { user: { token: 'tök€n' }, client: { env } },
    );
  }
});

test('CLIENT-14 the user agent has the form of upstream', () => {
  assert.equal(userAgent('x64'), 'kube-proxy/v1.37.0 (linux/amd64) kubernetes/pointsm');
  assert.equal(userAgent('arm64'), 'kube-proxy/v1.37.0 (linux/arm64) kubernetes/pointsm');
});

test('CLIENT-14 the Accept header comes from the configuration', () =>
  withClient(ok, async ({ another }) => {
    const accept = (acceptContentTypes: string, contentType: string) =>
      another({ clientConnection: { acceptContentTypes, contentType, qps: -1, burst: 0 } });
    const protobuf = 'application/vnd.kubernetes.protobuf';
    assert.equal(accept('', protobuf).accept(), `${protobuf}, */*`);
    assert.equal(accept('', protobuf).accept(ACCEPT), `${ACCEPT}, */*`);
    assert.equal(accept('a/b', protobuf).accept(), 'a/b');
  }));

test('CLIENT-14 the client sends a body with its content type', () =>
  withClient(
    (request, response) => {
      request.on('data', chunk => response.write(`${request.method} ${request.headers['content-type']} ${chunk}`));
      request.on('end', () => response.end());
    },
    async ({ client }) => {
      const request = { method: 'POST', path: '/x', accept: ACCEPT, body: Buffer.from('hello') } as const;
      assert.equal(await bodyText(await client.request(request)), 'POST application/json hello');
      const typed = await client.request({ ...request, contentType: 'a/b' });
      assert.equal(await bodyText(typed), 'POST a/b hello');
    },
  ));

test('CLIENT-14 the client asks for gzip except for watches, unless the kubeconfig disables it', async () => {
  const gzip: Handler = ({ headers }, response) => {
    const compressed = headers['accept-encoding'] === 'gzip';
    if (compressed) response.setHeader('content-encoding', 'gzip');
    const text = `${compressed}`.repeat(100_000);
    response.end(compressed ? gzipSync(text) : text);
  };
  await withClient(gzip, async ({ get }) => {
    assert.equal(await get('/x'), 'true'.repeat(100_000));
    assert.equal(await get('/x?watch=true'), 'false'.repeat(100_000));
  });
  await withClient(gzip, async ({ get }) => assert.equal((await get('/x')).slice(0, 5), 'false'), {
    cluster: { 'disable-compression': true },
  });
});

test('CLIENT-12 a compressed body that is cut off is an error', () =>
  withClient(
    (_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('x'.repeat(100_000)).subarray(0, 60));
    },
    async ({ get }) => assert.rejects(get(), { name: 'ApiError', code: 'closed' }),
  ));

test('CLIENT-12 the caller gets each part of a slow body as it comes', () =>
  withClient(
    (_request, response) => {
      response.write('one');
      setTimeout(() => response.write('two'), 20);
      setTimeout(() => response.end('three'), 40);
    },
    async ({ client }) => {
      const { body } = await client.request({ path: '/x?watch=true', accept: ACCEPT });
      const pieces: string[] = [];
      for await (const piece of body) pieces.push(Buffer.from(piece).toString());
      assert.deepEqual(pieces, ['one', 'two', 'three']);
    },
  ));

test('CLIENT-12 a body that is not read is not fetched without end, and does not block other requests', () => {
  const block = randomBytes(1 << 20);
  let written = 0;
  const flood: Handler = (request, response) => {
    if (request.url === '/small') return void response.end('small');
    const more = () => {
      while (written < 100 && response.write(block)) written++;
    };
    response.on('drain', () => {
      written++;
      more();
    });
    more();
  };
  return withClient(flood, async ({ client, get }) => {
    const { body } = await client.request({ path: '/flood', accept: ACCEPT });
    const reader = body[Symbol.asyncIterator]();
    await reader.next();
    for (let i = 0; i < 5; i++) assert.equal(await get('/small'), 'small');
    assert.ok(written < 20, `the server could send ${written} MiB that were not read`);
    await reader.return?.();
  });
});

test('CLIENT-12 a reader that returns ends the transfer, even while it waits', () => {
  let ended = 0;
  const silent: Handler = (_request, response) => {
    response.write('x');
    response.on('close', () => ended++);
  };
  return withClient(silent, async ({ client }) => {
    const first = await client.request({ path: '/x?watch=true', accept: ACCEPT });
    for await (const _piece of first.body) break;
    await eventually(() => ended === 1);
    const second = await client.request({ path: '/x?watch=true', accept: ACCEPT });
    const reader = second.body[Symbol.asyncIterator]();
    await reader.next();
    const waiting = reader.next();
    await reader.return?.();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    await eventually(() => ended === 2);
  });
});

test('CLIENT-12 a signal aborts a request before it is sent, before its answer and during its body', () => {
  let ended = 0;
  const silent: Handler = (request, response) => {
    response.on('close', () => ended++);
    if (request.url === '/body') response.write('x');
  };
  return withClient(silent, async ({ client, server }) => {
    const abortedError = { name: 'ApiError', code: 'aborted' };
    const before = client.request({ path: '/x', accept: ACCEPT, signal: AbortSignal.abort() });
    await assert.rejects(before, abortedError);
    const waiting = new AbortController();
    const request = client.request({ path: '/x', accept: ACCEPT, signal: waiting.signal });
    await eventually(() => server.requests.length === 1);
    waiting.abort();
    await assert.rejects(request, abortedError);
    const reading = new AbortController();
    const { body } = await client.request({ path: '/body', accept: ACCEPT, signal: reading.signal });
    const reader = body[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    reading.abort();
    await assert.rejects(next, abortedError);
    await eventually(() => ended === 2);
  });
});

test('CLIENT-13 the observer gets attempts, waits for the rate limit, and requests with their sizes', () => {
  const clock = new ManualClock();
  return withClient(
    (_request, response) => void response.end('12345'),
    async ({ get, observations, server, client }) => {
      const host = client.host;
      await get('/x');
      const second = get('/x');
      await clock.advance(200);
      await second;
      const verb = 'GET';
      assert.deepEqual(observations, [
        { kind: 'rate-limited', verb, host, milliseconds: 0 },
        { kind: 'attempt', verb, host, code: '200', retry: false },
        { kind: 'request', verb, host, code: '200', milliseconds: 0, requestBytes: 0, responseBytes: 5 },
        { kind: 'rate-limited', verb, host, milliseconds: 200 },
        { kind: 'attempt', verb, host, code: '200', retry: false },
        { kind: 'request', verb, host, code: '200', milliseconds: 200, requestBytes: 0, responseBytes: 5 },
      ]);
      observations.length = 0;
      await get('/x?watch=true');
      assert.deepEqual(observations, [{ kind: 'attempt', verb, host, code: '200', retry: false }]);
      observations.length = 0;
      await server.close();
      const lost = assert.rejects(
        client.request({ method: 'POST', path: '/x', accept: ACCEPT, body: Buffer.from('abc') }),
      );
      await clock.advance(200);
      await lost;
      assert.deepEqual(observations.slice(1), [
        { kind: 'attempt', verb: 'POST', host, code: '<error>', retry: false },
        { kind: 'request', verb: 'POST', host, code: '<error>', milliseconds: 200, requestBytes: 3, responseBytes: 0 },
      ]);
    },
    { client: { clock, clientConnection: { acceptContentTypes: '', contentType: ACCEPT, qps: 5, burst: 1 } } },
  );
});
