import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { bodyText, eventually, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';
import { DATA, frame, GOAWAY, HEADERS, RST_STREAM, serverFrames, uint32 } from '../../../test/support/http2-frames.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';

const ACCEPT = 'application/json';
const ok: Handler = (_request, response) => void response.end('ok');
const CLOSED = {
  name: 'ApiError',
  code: 'closed',
  message: /^the connection to the API server 127\.0\.0\.1:\d+ was closed before/,
};

test('CLIENT-7 all requests share one connection', () =>
  withClient(ok, async ({ get, server }) => {
    await Promise.all(Array.from({ length: 20 }, () => get()));
    await get();
    assert.equal(server.connections, 1);
    assert.equal(server.sessions.length, 1);
  }));

test('CLIENT-7 after the connection was closed the next request opens a new one', () =>
  withClient(ok, async ({ get, server }) => {
    await get();
    const [session] = server.sessions;
    session?.destroy();
    await eventually(() => server.sockets.size === 0);
    assert.equal(await get(), 'ok');
    assert.equal(server.connections, 2);
  }));

test('CLIENT-10 the client repeats a GET whose connection breaks before the answer, but not a POST', () => {
  const toBreak = new Set(['GET /break', 'POST /break']);
  let server: TestServer | undefined;
  const breaking: Handler = ({ method, url }, response) => {
    if (!toBreak.delete(`${method} ${url}`)) return void response.end('ok');
    for (const socket of server?.sockets ?? []) socket.destroy();
  };
  return withClient(breaking, async parts => {
    server = parts.server;
    await parts.get();
    assert.equal(await parts.get('/break'), 'ok');
    assert.equal(server.connections, 2);
    const post = { method: 'POST', path: '/break', accept: ACCEPT, body: Buffer.from('x') } as const;
    await assert.rejects(parts.client.request(post), CLOSED);
    assert.equal(toBreak.size, 0);
  });
});

test('CLIENT-7 after GOAWAY new requests use a new connection, and old requests go on to their end', () => {
  let finish: () => void = () => {};
  const handler: Handler = (request, response) => {
    if (request.url !== '/x?watch=true') return void response.end('ok');
    response.write('begin ');
    finish = () => response.end('end');
  };
  return withClient(handler, async ({ get, client, server }) => {
    const watch = await client.request({ path: '/x?watch=true', accept: ACCEPT });
    server.sessions[0]?.goaway();
    let tries = 0;
    while (server.connections === 1 && tries++ < 100) assert.equal(await get(), 'ok');
    assert.equal(server.connections, 2);
    finish();
    assert.equal(await bodyText(watch), 'begin end');
    assert.equal(await get(), 'ok');
    assert.equal(server.connections, 2);
    await eventually(() => server.sockets.size === 1);
  });
});

/** Passes bytes on until `silence` is called. From then on it behaves like a network that drops everything. */
async function relay(to: () => number): Promise<TestServer & { silence: () => void }> {
  const pairs: Socket[] = [];
  const server = await TestServer.raw(socket => {
    const onward = connect(to(), '127.0.0.1');
    onward.on('error', () => {});
    socket.once('close', () => onward.destroy());
    pairs.push(socket, onward);
    socket.pipe(onward).pipe(socket);
  });
  const silence = () => {
    for (const socket of pairs) socket.unpipe().pause();
  };
  return Object.assign(server, { silence });
}

test('CLIENT-7 if the peer vanishes all its requests fail, and the next request works', async () => {
  const handler: Handler = (request, response) => {
    if (request.url === '/x') response.end('ok');
    else response.write('begin');
  };
  const server = await TestServer.start(handler);
  try {
    const network = await relay(() => server.port);
    await withClient(
      handler,
      async ({ get, client }) => {
        const watches = await Promise.all(
          [1, 2].map(i => client.request({ path: `/${i}?watch=true`, accept: ACCEPT })),
        );
        network.silence();
        const message = /^the API server 127\.0\.0\.1:\d+ has not answered for 0\.24 s: the connection is given up$/;
        await Promise.all(
          watches.map(watch => assert.rejects(bodyText(watch), { name: 'ApiError', code: 'timeout', message })),
        );
        assert.equal(await get('/x'), 'ok');
      },
      { server: network, client: { timeouts: { readIdleMs: 90, pingMs: 150 } } },
    );
  } finally {
    await server.close();
  }
});

test('CLIENT-10 the client repeats a GET whose peer vanished before the answer', async () => {
  const server = await TestServer.start(ok);
  try {
    const network = await relay(() => server.port);
    await withClient(
      ok,
      async ({ get }) => {
        await get();
        network.silence();
        assert.equal(await get(), 'ok');
      },
      { server: network, client: { timeouts: { readIdleMs: 300, pingMs: 300 } } },
    );
  } finally {
    await server.close();
  }
});

test('CLIENT-7 if the peer vanishes after GOAWAY its requests fail, too', async () => {
  const handler: Handler = (request, response) => {
    if (request.url === '/x') response.end('ok');
    else response.write('begin');
  };
  const server = await TestServer.start(handler);
  try {
    const network = await relay(() => server.port);
    await withClient(
      handler,
      async ({ get, client }) => {
        const watch = await client.request({ path: '/1?watch=true', accept: ACCEPT });
        server.sessions[0]?.goaway();
        for (let tries = 0; server.connections === 1 && tries < 100; tries++) await get('/x');
        assert.equal(server.connections, 2);
        network.silence();
        await assert.rejects(bodyText(watch), { code: 'timeout' });
      },
      { server: network, client: { timeouts: { readIdleMs: 90, pingMs: 150 } } },
    );
  } finally {
    await server.close();
  }
});

test('CLIENT-7 a silent peer that answers pings keeps its connection', () => {
  let finish: () => void = () => {};
  const quiet: Handler = (_request, response) => {
    response.write('begin ');
    finish = () => response.end('end');
  };
  return withClient(
    quiet,
    async ({ client, server }) => {
      const watch = await client.request({ path: '/x?watch=true', accept: ACCEPT });
      let pings = 0;
      server.sessions[0]?.on('ping', () => ++pings === 3 && finish());
      assert.equal(await bodyText(watch), 'begin end');
      assert.equal(server.connections, 1);
    },
    { client: { timeouts: { readIdleMs: 15, pingMs: 5000 } } },
  );
});

test('CLIENT-7 the environment variables of client-go change the timeouts', () =>
  withClient(ok, async ({ another, logLines, get }) => {
    another({ env: { HTTP2_READ_IDLE_TIMEOUT_SECONDS: 'soon', HTTP2_PING_TIMEOUT_SECONDS: '7' } });
    assert.deepEqual(logLines, ['Illegal HTTP2_READ_IDLE_TIMEOUT_SECONDS("soon"). Default value 30 is used {}']);
    await get();
  }));

/** A client of a server that answers the first request with these bytes, and later ones with 200 and `ok`. */
async function withFrames(bytes: Buffer | 'end' | 'reset', act: Parameters<typeof withClient>[1]): Promise<void> {
  let requests = 0;
  const server = await TestServer.rawTls(socket => {
    serverFrames(socket, id => {
      if (requests++ > 0)
        return void socket.write(Buffer.concat([frame(HEADERS, 4, id, OK), frame(DATA, 1, id, 'ok')]));
      if (bytes === 'reset') socket.destroy();
      else if (bytes === 'end') socket.end(Buffer.concat([frame(HEADERS, 4, id, OK), frame(DATA, 0, id, 'hel')]));
      else socket.write(bytes);
    });
  });
  return withClient(ok, act, { server });
}

/** `:status 200` in HPACK, without and with `content-length: 10`. */
const OK = Buffer.from([0x88]);
const OK_OF_TEN = Buffer.from([0x88, 0x0f, 0x0d, 0x02, 0x31, 0x30]);
const STARTED = Buffer.concat([frame(HEADERS, 4, 1, OK), frame(DATA, 0, 1, 'hel')]);

test('CLIENT-12 a body that is cut off in any way is an error', async () => {
  const cuts = {
    'RST_STREAM CANCEL': Buffer.concat([STARTED, frame(RST_STREAM, 0, 1, uint32(8))]),
    'RST_STREAM INTERNAL_ERROR': Buffer.concat([STARTED, frame(RST_STREAM, 0, 1, uint32(2))]),
    'the connection ends': 'end',
    'fewer bytes than were promised': Buffer.concat([frame(HEADERS, 4, 1, OK_OF_TEN), frame(DATA, 1, 1, 'hel')]),
    'GOAWAY with an error': Buffer.concat([STARTED, frame(GOAWAY, 0, 0, Buffer.concat([uint32(1), uint32(2)]))]),
  } as const;
  for (const [name, cut] of Object.entries(cuts)) {
    await withFrames(cut, async ({ client, get }) => {
      const response = await client.request({ path: '/x', accept: ACCEPT });
      const pieces: string[] = [];
      await assert.rejects(
        async () => {
          for await (const piece of response.body) pieces.push(Buffer.from(piece).toString());
        },
        CLOSED,
        name,
      );
      assert.ok(pieces.join('') === 'hel' || pieces.length === 0, name);
      assert.equal(await get(), 'ok', `after: ${name}`);
    });
  }
});

test('CLIENT-10 the client repeats any request that the server refused to process', () =>
  withFrames(frame(RST_STREAM, 0, 1, uint32(7)), async ({ client }) => {
    const request = { method: 'POST', path: '/x', accept: ACCEPT, body: Buffer.from('x') } as const;
    assert.equal(await bodyText(await client.request(request)), 'ok');
  }));

test('CLIENT-7 a request on a new connection that breaks at once rejects without a retry', () =>
  withFrames('reset', async ({ client, server }) => {
    await assert.rejects(client.request({ path: '/x', accept: ACCEPT }), { code: 'closed' });
    assert.equal(server.connections, 1);
  }));

test('CLIENT-7 closing a client ends its requests and refuses new ones', () =>
  withClient(
    (_request, response) => void response.write('begin'),
    async ({ client, server }) => {
      const watch = await client.request({ path: '/x?watch=true', accept: ACCEPT });
      client.close();
      await assert.rejects(bodyText(watch), { code: 'closed', message: 'the client was closed' });
      await assert.rejects(client.request({ path: '/x', accept: ACCEPT }), { message: 'the client was closed' });
      await eventually(() => server.sockets.size === 0);
    },
  ));

test('CLIENT-7 closing a client while its connection opens leaves no connection open', () =>
  withClient(ok, async ({ client, server }) => {
    const rejected = assert.rejects(client.request({ path: '/x', accept: ACCEPT }), { code: 'closed' });
    await new Promise(setImmediate);
    client.close();
    await rejected;
    await eventually(() => server.connections === 1 && server.sockets.size === 0);
  }));

test('CLIENT-7 the time limit for a new connection ends when the connection is made', () => {
  const clock = new ManualClock();
  return withClient(
    ok,
    async ({ get, server }) => {
      await get();
      assert.equal(clock.pending, 0);
      await clock.advance(60_000);
      await get();
      assert.equal(server.connections, 1);
    },
    { client: { clock, timeouts: { readIdleMs: 0 } } },
  );
});

test('CLIENT-12 a request whose signal is aborted already is not sent on an open connection', () =>
  withClient(ok, async ({ client, get, server }) => {
    await get();
    const request = client.request({ path: '/x?watch=true', accept: ACCEPT, signal: AbortSignal.abort() });
    await assert.rejects(request, { code: 'aborted' });
    await get();
    assert.equal(server.requests.length, 2);
  }));

test('CLIENT-7 aborting a request while the connection opens does not affect other requests', () =>
  withClient(ok, async ({ client, get }) => {
    const controller = new AbortController();
    const abortedRequest = client.request({ path: '/x', accept: ACCEPT, signal: controller.signal });
    const other = get();
    controller.abort();
    await assert.rejects(abortedRequest, { code: 'aborted' });
    assert.equal(await other, 'ok');
  }));
