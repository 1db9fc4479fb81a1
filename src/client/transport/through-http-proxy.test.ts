import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { bodyText, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';
import { certificates } from '../../../test/support/certificates.ts';

const ACCEPT = 'application/json';
const version: Handler = (request, response) => void response.end(request.httpVersion);

interface Proxy {
  readonly port: number;
  /** `CONNECT host:port authorization`. */
  readonly asked: string[];
}

/** A proxy for HTTP, which lets tunnels through unless it is told to answer otherwise. */
async function withProxy(
  act: (proxy: Proxy) => Promise<void>,
  { refusal, scheme = 'http' }: { refusal?: string; scheme?: 'http' | 'https' } = {},
): Promise<void> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const answer: RequestListener = ({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers['proxy-authorization']}`);
    response.end('by the proxy');
  };
  const proxy = scheme === 'http' ? createServer(answer) : createHttps(certificates().server, answer);
  proxy.on('connection', (socket: Socket) => sockets.add(socket));
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`);
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
    await act({ port, asked });
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => proxy.close(resolve));
  }
}

test('CLIENT-8 a server behind proxy-url is reached by CONNECT, with TLS to the server itself', () =>
  withProxy(({ port, asked }) =>
    withClient(
      version,
      async ({ get, server }) => {
        assert.equal(await get(), '2.0');
        const basic = Buffer.from('me:p w').toString('base64');
        assert.deepEqual(asked, [`CONNECT 127.0.0.1:${server.port} Basic ${basic}`]);
      },
      { cluster: { 'proxy-url': `http://me:p%20w@127.0.0.1:${port}` } },
    ),
  ));

test('CLIENT-8 a proxy that does not let us through is told with its answer', () =>
  withProxy(
    ({ port }) =>
      withClient(
        version,
        async ({ get, client }) => {
          const message = `the proxy 127.0.0.1:${port} does not let us through to the API server ${client.host}: 403 Forbidden`;
          await assert.rejects(get(), { name: 'ApiError', code: 'unreachable', message });
        },
        { cluster: { 'proxy-url': `http://127.0.0.1:${port}` } },
      ),
    { refusal: '403 Forbidden' },
  ));

test('CLIENT-8 a proxy where nobody listens is told as the proxy', () =>
  withClient(
    version,
    async ({ get }) => {
      const message = /^the proxy 127\.0\.0\.1:1 refused the connection/;
      await assert.rejects(get(), { code: 'unreachable', message });
    },
    { cluster: { 'proxy-url': 'http://127.0.0.1:1' } },
  ));

test('CLIENT-8 a proxy that never answers is given up in time', async () => {
  const silent = await TestServer.raw(socket => void socket.resume());
  try {
    await withClient(
      version,
      async ({ get }) => assert.rejects(get(), { code: 'timeout', message: /^no connection to the API server/ }),
      { cluster: { 'proxy-url': silent.url('http') }, client: { times: { connectMs: 50 } } },
    );
  } finally {
    await silent.close();
  }
});

test('CLIENT-8 a proxy of the environment serves plain HTTP by whole addresses', () =>
  withProxy(({ port, asked }) =>
    withClient(version, async ({ another }) => {
      const env = { HTTP_PROXY: `127.0.0.1:${port}` };
      const client = another({ kubeconfig: '', master: 'http://api.test:8080', env });
      assert.equal(await bodyText(await client.request({ path: '/x', accept: ACCEPT })), 'by the proxy');
      assert.deepEqual(asked, ['GET http://api.test:8080/x undefined']);
    }),
  ));

test('CLIENT-8 a proxy may be spoken to by TLS, and must then be one that the machine trusts', () =>
  withProxy(
    ({ port, asked }) =>
      withClient(
        version,
        async ({ get, another, folder, client }) => {
          const trusting = another({ env: { SSL_CERT_FILE: folder.write('roots.pem', certificates().ca.cert) } });
          const response = await trusting.request({ path: '/x', accept: ACCEPT });
          assert.equal(await bodyText(response), '2.0');
          assert.deepEqual(asked, [`CONNECT ${client.host} undefined`]);
          await assert.rejects(get(), {
            code: 'tls',
            message: /^the certificate of the proxy 127\.0\.0\.1:\d+ is not signed by a CA that this machine trusts/,
          });
        },
        { cluster: { 'proxy-url': `https://127.0.0.1:${port}` } },
      ),
    { scheme: 'https' },
  ));
