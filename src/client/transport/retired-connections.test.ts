import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { bodyText, eventually, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';
import { certificates } from '../../../test/support/certificates.ts';
import { DATA, frame, GOAWAY, HEADERS, RST_STREAM, serverFrames, uint32 } from '../../../test/support/http2-frames.ts';

const ACCEPT = 'application/json';
const REFUSED = uint32(7);
/** `:status 200` in HPACK. */
const OK = Buffer.from([0x88]);
const NO_ERROR_AFTER_FIRST = Buffer.concat([uint32(1), uint32(0)]);

test('CLIENT-10 a request that the server always refuses is repeated once', async () => {
  let requests = 0;
  const server = await TestServer.rawTls(socket =>
    serverFrames(socket, id => {
      requests++;
      socket.write(frame(RST_STREAM, 0, id, REFUSED));
    }),
  );
  await withClient(
    () => {},
    async ({ client }) => {
      const request = { method: 'POST', path: '/x', accept: ACCEPT, body: Buffer.from('x') } as const;
      await assert.rejects(client.request(request), { code: 'closed', message: /refused the request before/ });
      assert.equal(requests, 2);
    },
    { server },
  );
});

test('CLIENT-7 closing a client also closes a connection that new requests no longer use', () => {
  const handler: Handler = (request, response) => {
    if (request.url === '/x') response.end('ok');
    else response.write('begin');
  };
  return withClient(handler, async ({ get, client, server }) => {
    const watch = await client.request({ path: '/1?watch=true', accept: ACCEPT });
    server.sessions[0]?.goaway();
    for (let tries = 0; server.connections === 1 && tries < 100; tries++) await get();
    assert.equal(server.sockets.size, 2);
    client.close();
    await assert.rejects(bodyText(watch), { code: 'closed', message: 'the client was closed' });
    await eventually(() => server.sockets.size === 0);
  });
});

test('CLIENT-7 a server that never closes its side after GOAWAY does not keep sockets of the client open', async () => {
  const alive = new Set<Socket>();
  let connections = 0;
  const server = createServer({ ...certificates().server, ALPNProtocols: ['h2'], allowHalfOpen: true }, socket => {
    alive.add(socket);
    connections++;
    serverFrames(socket, id => {
      const answer = [frame(HEADERS, 4, id, OK), frame(DATA, 1, id, 'ok'), frame(GOAWAY, 0, 0, NO_ERROR_AFTER_FIRST)];
      socket.write(Buffer.concat(answer));
    });
    // The kernel refuses these bytes as soon as the client has closed its socket, and not only its side.
    const timer = setInterval(() => socket.write(frame(GOAWAY, 0, 0, NO_ERROR_AFTER_FIRST)), 5);
    socket.once('close', () => {
      clearInterval(timer);
      alive.delete(socket);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  try {
    await withClient(
      () => {},
      async ({ get }) => {
        for (let i = 0; i < 3; i++) assert.equal(await get(), 'ok');
        await eventually(() => alive.size === 0);
        assert.equal(connections, 3);
      },
      { cluster: { server: `https://127.0.0.1:${port}` } },
    );
  } finally {
    for (const socket of alive) socket.destroy();
    server.close();
  }
});

test('CLIENT-7 the connection has a window of 16 MiB', () =>
  withClient(
    (_request, response) => void response.end('ok'),
    async ({ get, server }) => {
      await get();
      const window = () => server.sessions[0]?.state.remoteWindowSize ?? 0;
      await eventually(() => window() > 15 << 20);
    },
  ));
