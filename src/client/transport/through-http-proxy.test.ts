import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { bodyText, eventually, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';
import { certificates } from '../../../test/support/certificates.ts';

const ACCEPT = 'application/json';
const version: Handler = (request, response) => void response.end(request.httpVersion);

interface Proxy {
  readonly port: number;
  /** The requests that the proxy got: `CONNECT host:port authorization`. */
  readonly requests: string[];
}

/** Runs a test with an HTTP proxy. It opens tunnels, or answers CONNECT with `refusal`. */
async function withProxy(
  act: (proxy: Proxy) => Promise<void>,
  { refusal, scheme = 'http' }: { refusal?: string; scheme?: 'http' | 'https' } = {},
): Promise<void> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const answer: RequestListener = ({ method, url, headers }, response) => {
    requests.push(`${method} ${url} ${headers['proxy-authorization']}`);
    response.end('by the proxy');
  };
  const proxy = scheme === 'http' ? createServer(answer) : createHttps(certificates().server, answer);
  proxy.on('connection', (socket: Socket) => sockets.add(socket));
  proxy.on('connect', (request, socket) => {
    requests.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`);
    socket.on('error', () => {});
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
    const onward = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1');
    onward.on('error', () => {});
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    await act({ port, requests });
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => proxy.close(resolve));
  }
}

test('CLIENT-8 the client reaches a server behind proxy-url by CONNECT, with TLS to the server itself', () =>
  withProxy(({ port, requests }) =>
    withClient(
      version,
      async ({ get, server }) => {
        assert.equal(await get(), '2.0');
        const basic = Buffer.from('me:p w').toString('base64');
        assert.deepEqual(requests, [`CONNECT 127.0.0.1:${server.port} Basic ${basic}`]);
      },
      { cluster: { 'proxy-url': `http://me:p%20w@127.0.0.1:${port}` } },
    ),
  ));

test('CLIENT-8 the error of a proxy that refuses the tunnel has its answer', () =>
  withProxy(
    ({ port }) =>
      withClient(
        version,
        async ({ get, client }) => {
          const message = `the HTTP proxy 127.0.0.1:${port} refused the tunnel to the API server ${client.host}: 403 Forbidden`;
          await assert.rejects(get(), { name: 'ApiError', code: 'unreachable', message });
        },
        { cluster: { 'proxy-url': `http://127.0.0.1:${port}` } },
      ),
    { refusal: '403 Forbidden' },
  ));

test('CLIENT-8 the client closes its connection to a proxy that refuses the tunnel', async () => {
  let isClosed = false;
  const proxy = createTcpServer(socket => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'));
    socket.once('close', () => {
      isClosed = true;
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const { port } = proxy.address() as AddressInfo;
    await withClient(
      version,
      async ({ get }) => {
        await assert.rejects(get(), { code: 'unreachable' });
        await eventually(() => isClosed);
      },
      { cluster: { 'proxy-url': `http://127.0.0.1:${port}` } },
    );
  } finally {
    proxy.close();
  }
});

test('CLIENT-8 the error of a proxy that is not there names the proxy', () =>
  withClient(
    version,
    async ({ get }) => {
      const message = /^the HTTP proxy 127\.0\.0\.1:1 refused the connection/;
      await assert.rejects(get(), { code: 'unreachable', message });
    },
    { cluster: { 'proxy-url': 'http://127.0.0.1:1' } },
  ));

test('CLIENT-8 a proxy that never answers leads to a timeout', async () => {
  const silent = await TestServer.raw(socket => void socket.resume());
  try {
    await withClient(
      version,
      async ({ get }) => assert.rejects(get(), { code: 'timeout', message: /^no connection to the API server/ }),
      { cluster: { 'proxy-url': silent.url('http') }, client: { timeouts: { connectMs: 50 } } },
    );
  } finally {
    await silent.close();
  }
});

test('CLIENT-8 requests for plain HTTP through a proxy of the environment have the whole URL', () =>
  withProxy(({ port, requests }) =>
    withClient(version, async ({ another }) => {
      const env = { HTTP_PROXY: `127.0.0.1:${port}` };
      const client = another({ kubeconfig: '', master: 'http://api.test:8080', env });
      assert.equal(await bodyText(await client.request({ path: '/x', accept: ACCEPT })), 'by the proxy');
      assert.deepEqual(requests, ['GET http://api.test:8080/x undefined']);
    }),
  ));

test('CLIENT-8 a proxy may use TLS, and the machine must trust its certificate then', () =>
  withProxy(
    ({ port, requests }) =>
      withClient(
        version,
        async ({ get, another, folder, client }) => {
          const trusting = another({ env: { SSL_CERT_FILE: folder.write('roots.pem', certificates().ca.cert) } });
          const response = await trusting.request({ path: '/x', accept: ACCEPT });
          assert.equal(await bodyText(response), '2.0');
          assert.deepEqual(requests, [`CONNECT ${client.host} undefined`]);
          await assert.rejects(get(), {
            code: 'tls',
            message:
              /^the certificate of the HTTP proxy 127\.0\.0\.1:\d+ is not signed by a CA that this machine trusts/,
          });
        },
        { cluster: { 'proxy-url': `https://127.0.0.1:${port}` } },
      ),
    { scheme: 'https' },
  ));
