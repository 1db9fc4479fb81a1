import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect, type ListenOptions, Server } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { httpCall } from '../../../test/support/http-call.ts';
import { rememberSecret } from '../../lib/secrets.ts';
import type { Ip } from '../../net/index.ts';
import { type HttpHandler, HttpServer, textAnswer } from './index.ts';

const LOOPBACK = '127.0.0.1' as Ip;
const ANY = '0.0.0.0' as Ip;
const ANY6 = '::' as Ip;

describe('HTTP servers', () => {
  const open: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(server: T): T => {
    open.push(server);
    return server;
  };
  const serve = async (handle: HttpHandler) => keep(await HttpServer.open({ ip: LOOPBACK, port: 0, handle }));

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  test('HEALTH-10 a handler gets method, path, query, headers and body, and the caller gets its whole answer', async () => {
    const { port } = await serve(async ({ method, path, query, headers, text }) =>
      textAnswer(207, [method, path, query.get('a'), headers['x-b'], await text(10)].join(' ')),
    );
    const reply = await httpCall({ port, path: '/x/?a=1%202', method: 'PUT', headers: { 'X-B': 'b' }, body: 'hello' });
    assert.deepEqual(
      { ...reply, bytes: undefined },
      {
        status: 207,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'content-length': '19',
        },
        body: 'PUT /x/ 1 2 b hello',
        bytes: undefined,
      },
    );
  });

  test('HEALTH-10 a request body that is too long is refused, and the caller still gets an answer', async () => {
    const { port } = await serve(async request => textAnswer(200, String(await request.text(4))));
    const put = async (body: string) => (await httpCall({ port, method: 'PUT', body })).body;
    assert.deepEqual([await put('hell'), await put('hello')], ['hell', 'undefined']);
    assert.equal(await put('x'.repeat(500_000)), 'undefined');
  });

  test('CLIENT-15 no page shows a secret of the process', async () => {
    const secret = randomBytes(16).toString('hex');
    rememberSecret(secret);
    const { port } = await serve(() => textAnswer(200, `the token is ${secret}`));
    assert.equal((await httpCall({ port })).body, 'the token is <redacted>');
  });

  test('HEALTH-10 a handler that throws is a 500, and the server goes on', async () => {
    const { port } = await serve(({ path }) => {
      if (path === '/bad') throw new Error('no luck');
      return path === '/later' ? Promise.reject(new Error('no luck')) : textAnswer(200, 'fine');
    });
    for (const path of ['/bad', '/later']) {
      const { status, body } = await httpCall({ port, path });
      assert.deepEqual({ status, body }, { status: 500, body: 'no luck\n' });
    }
    assert.equal((await httpCall({ port })).body, 'fine');
  });

  test('HEALTH-10 an answer that HTTP does not allow closes the connection, and the server goes on', async () => {
    const { port } = await serve(({ path }) => ({ status: 200, headers: { 'X-A': path.slice(1) }, body: 'fine' }));
    await assert.rejects(httpCall({ port, path: '/a%0ab' }));
    assert.equal((await httpCall({ port, path: '/a' })).body, 'fine');
  });

  test('HEALTH-10 headers that are too long are refused', async () => {
    const { port } = await serve(() => textAnswer(200, 'ok'));
    assert.equal((await httpCall({ port, headers: { long: 'x'.repeat(17_000) } })).status, 431);
  });

  test('HEALTH-10 a handler learns that its caller disconnected', async () => {
    const steps = new EventEmitter();
    const { port } = await serve(async ({ disconnected }) => {
      steps.emit('asked');
      await once(disconnected, 'abort');
      steps.emit('gone');
      return textAnswer(200, '');
    });
    const asked = once(steps, 'asked');
    const gone = once(steps, 'gone');
    const socket = connect(port, LOOPBACK);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await asked;
    socket.destroy();
    await gone;
  });

  test('HEALTH-10 a caller that has ended its side of the connection gets its answers', async () => {
    const { port } = await serve(async () => {
      await new Promise(resolve => setTimeout(resolve, 20));
      return textAnswer(200, '<late>');
    });
    const socket = connect({ port, host: LOOPBACK, allowHalfOpen: true });
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
    let received = '';
    socket.on('data', data => {
      received += data;
    });
    await once(socket, 'end');
    socket.destroy();
    assert.deepEqual(received.match(/<late>/g), ['<late>', '<late>']);
  });

  test('HEALTH-10 closing frees the port and closes all connections at once, even those that wait for an answer', async () => {
    const asked = new EventEmitter();
    const server = await serve(() => {
      asked.emit('asked');
      return new Promise(() => {});
    });
    const { port } = server;
    const waiting = connect(port, LOOPBACK);
    waiting.on('error', () => {});
    const cut = once(waiting, 'close');
    waiting.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(asked, 'asked');
    server.close();
    keep(await HttpServer.open({ ip: LOOPBACK, port, handle: () => textAnswer(200, 'second') }));
    await cut;
    assert.equal((await httpCall({ port })).body, 'second');
  });

  test('HEALTH-10 an IPv6-only listener leaves the port free for IPv4', async () => {
    const answer = (text: string) => () => textAnswer(200, text);
    const openBoth = async () => {
      const v6 = keep(await HttpServer.open({ ip: ANY6, port: 0, family: 'IPv6', handle: answer('six') }));
      keep(await HttpServer.open({ ip: ANY, port: v6.port, handle: answer('four') }));
      return v6.port;
    };
    // Another program of this machine may have a port for IPv4 only, but not five ports in a row.
    let opened = openBoth();
    for (let i = 0; i < 4; i++) opened = opened.catch(openBoth);
    const port = await opened;
    assert.equal((await httpCall({ port, host: '::1' })).body, 'six');
    assert.equal((await httpCall({ port, host: '127.0.0.1' })).body, 'four');
  });

  test('HEALTH-14 many connections may wait until the process accepts them', async t => {
    const listens = t.mock.method(Server.prototype, 'listen').mock;
    await serve(() => textAnswer(200, 'ok'));
    assert.deepEqual(
      listens.calls.map(call => (call.arguments[0] as ListenOptions).backlog),
      [4096],
    );
  });

  test('HEALTH-10 closing also closes connections that have sent nothing', async () => {
    const server = await serve(() => textAnswer(200, 'ok'));
    const socket = connect(server.port, LOOPBACK);
    await once(socket, 'connect');
    await httpCall({ port: server.port });
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(5000) });
    server.close();
    await closed;
  });
});
