import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { bodyText, eventually, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';

const ACCEPT = 'application/json';
const version: Handler = (request, response) => void response.end(request.httpVersion);

test('CLIENT-7 a server that does not speak HTTP/2 is spoken to by HTTP/1.1, on connections that are kept', () =>
  withClient(
    version,
    async ({ get, server }) => {
      for (let i = 0; i < 3; i++) assert.equal(await get(), '1.1');
      assert.equal(server.connections, 1);
      await Promise.all([get(), get(), get()]);
      assert.ok(server.connections > 1);
    },
    { server: { protocol: 'https' } },
  ));

test('CLIENT-7 DISABLE_HTTP2 does what it does for client-go', () =>
  withClient(version, async ({ get, another }) => {
    assert.equal(await get(), '2.0');
    const client = another({ env: { DISABLE_HTTP2: '1' } });
    assert.equal(await bodyText(await client.request({ path: '/x', accept: ACCEPT })), '1.1');
  }));

test('CLIENT-2 --master with http:// is spoken to in the open, without credentials', async () => {
  const server = await TestServer.start(
    ({ headers, url }, response) => void response.end(`${url} ${headers.authorization}`),
    {
      protocol: 'http',
    },
  );
  await withClient(
    version,
    async ({ another }) => {
      const client = another({ kubeconfig: '', master: server.url('http') });
      assert.equal(client.host, `127.0.0.1:${server.port}`);
      assert.equal(await bodyText(await client.request({ path: '/x', accept: ACCEPT })), '/x undefined');
      const both = another({ master: `127.0.0.1:${server.port}` });
      assert.equal(await bodyText(await both.request({ path: '/x', accept: ACCEPT })), '/x undefined');
    },
    { server, user: { token: 'secret' } },
  );
});

test('CLIENT-14 a body is sent by HTTP/1.1 too', () =>
  withClient(
    (request, response) => {
      request.on('data', chunk => response.write(chunk));
      request.on('end', () => response.end());
    },
    async ({ client }) => {
      const request = { method: 'POST', path: '/x', accept: ACCEPT, body: Buffer.from('hello') } as const;
      assert.equal(await bodyText(await client.request(request)), 'hello');
    },
    { server: { protocol: 'https' } },
  ));

test('CLIENT-12 by HTTP/1.1 too, a body that is cut off is an error', () => {
  const cut: Handler = (request, response) => {
    response.setHeader('content-length', '10');
    response.write('half');
    setTimeout(() => (request.socket as Socket).destroy(), 10);
  };
  return withClient(
    cut,
    async ({ get }) =>
      assert.rejects(get(), { name: 'ApiError', code: 'closed', message: /was closed before the answer/ }),
    { server: { protocol: 'https' } },
  );
});

test('CLIENT-12 by HTTP/1.1 too, readers and signals end a transfer', () => {
  const silent: Handler = (request, response) => {
    if (request.url !== '/silent') response.write('x');
  };
  return withClient(
    silent,
    async ({ client, server }) => {
      const watch = await client.request({ path: '/x?watch=true', accept: ACCEPT });
      for await (const _piece of watch.body) break;
      await eventually(() => server.sockets.size === 0);
      const controller = new AbortController();
      const waiting = client.request({ path: '/silent', accept: ACCEPT, signal: controller.signal });
      await eventually(() => server.requests.length === 2);
      controller.abort();
      await assert.rejects(waiting, { code: 'aborted' });
      await eventually(() => server.sockets.size === 0);
    },
    { server: { protocol: 'https' } },
  );
});

test('CLIENT-7 a closed client leaves no HTTP/1.1 connection open', () =>
  withClient(
    (_request, response) => void response.write('begin'),
    async ({ client, server }) => {
      const watch = await client.request({ path: '/x?watch=true', accept: ACCEPT });
      client.close();
      await assert.rejects(bodyText(watch), { code: 'closed' });
      await eventually(() => server.sockets.size === 0);
    },
    { server: { protocol: 'https' } },
  ));

test('CLIENT-10 a kept connection that the server has closed meanwhile is not noticed by a GET', () => {
  let broken = false;
  const breaking: Handler = (request, response) => {
    if (request.url !== '/break' || broken) return void response.end('ok');
    broken = true;
    (request.socket as Socket).destroy();
  };
  return withClient(
    breaking,
    async ({ get }) => {
      await get();
      assert.equal(await get('/break'), 'ok');
      assert.ok(broken);
    },
    { server: { protocol: 'https' } },
  );
});

test('CLIENT-4 nobody listens: told for plain HTTP too', async () => {
  const server = await TestServer.start(version, { protocol: 'http' });
  await server.close();
  await withClient(version, async ({ another }) => {
    const client = another({ kubeconfig: '', master: 'http://127.0.0.1:1' });
    await assert.rejects(client.request({ path: '/x', accept: ACCEPT }), {
      code: 'unreachable',
      address: '127.0.0.1:1',
    });
  });
});
