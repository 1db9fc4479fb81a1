import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Ip } from '../../net/index.ts';
import { ConnectionTable, type HttpHandler, HttpServer, textAnswer } from './index.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const ok: HttpHandler = () => textAnswer(200, 'ok');

describe('the limits of connections', () => {
  const open: { close(): void }[] = [];
  let port = 0;
  async function serve(handle: HttpHandler, connections = new ConnectionTable()): Promise<ConnectionTable> {
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle, connections });
    open.push(server);
    port = server.port;
    return connections;
  }
  async function dial(text = ''): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    open.push({ close: () => void socket.destroy() });
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return socket;
  }
  async function ask(socket: Socket): Promise<string> {
    socket.write(REQUEST);
    const [answer] = await once(socket, 'data');
    return String(answer);
  }
  afterEach(() => {
    for (const part of open.splice(0)) part.close();
  });

  test('HEALTH-16 by default a connection may be idle for 60 s', async () => {
    await serve(ok);
    assert.match(await ask(await dial()), /^Keep-Alive: timeout=60\r$/m);
  });

  test('HEALTH-16 by default a caller has 30 s to take its answer', async t => {
    const connections = await serve(() => ({ status: 200, headers: {}, body: Buffer.alloc(50_000_000) }));
    const timers = t.mock.method(globalThis, 'setTimeout').mock;
    await once(await dial(REQUEST), 'readable');
    const limit = timers.calls.find(call => call.arguments[1] === 30_000)?.arguments[0];
    assert.equal(connections.size, 1);
    limit?.();
    await waitFor('it is closed', () => connections.size === 0, { timeoutMs: 3000 });
  });

  test('HEALTH-16 the time limit of an answer ends when the caller has the answer', async t => {
    await serve(ok);
    const cleared = t.mock.method(globalThis, 'clearTimeout').mock;
    await ask(await dial());
    await waitFor('the limit has ended', () => cleared.callCount() > 0);
  });

  test('HEALTH-16 a caller that asks to close the connection, and then does not, is disconnected', async () => {
    const connections = await serve(ok);
    const socket = await dial(REQUEST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await once(socket, 'data');
    await waitFor('it is closed', () => connections.size === 0, { timeoutMs: 3000 });
  });

  test('HEALTH-16 a caller that ends its side of the connection and has sent nothing is disconnected', async () => {
    const connections = await serve(ok);
    const socket = await dial();
    await waitFor('the server has the connection', () => connections.size === 1);
    socket.end();
    await waitFor('it is closed', () => connections.size === 0, { timeoutMs: 3000 });
  });

  test('HEALTH-16 the time limit for the first bytes ends with them', async t => {
    const timeouts = t.mock.method(Socket.prototype, 'setTimeout').mock;
    await serve(ok);
    await ask(await dial());
    const limits = timeouts.calls.map(call => call.arguments[0]);
    assert.deepEqual(limits.slice(0, 2), [10_000, 0]);
  });

  test('HEALTH-15 of two connections of a caller, the one without a newer answer gives way', async () => {
    await serve(ok, new ConnectionTable(2));
    const [first, second] = [await dial(), await dial()];
    const closed = once(second, 'end', { signal: AbortSignal.timeout(5000) });
    await ask(first);
    await dial();
    await closed;
    assert.match(await ask(first), /ok/);
  });

  test('HEALTH-15 a connection whose request runs is spared, although it is older', async () => {
    await serve(() => new Promise(() => {}), new ConnectionTable(2));
    const first = await dial(REQUEST);
    first.once('close', () => assert.fail('the first connection was closed'));
    // The server reads the first request before it accepts the third connection.
    const closed = once(await dial(), 'end', { signal: AbortSignal.timeout(5000) });
    await delay(50);
    await dial();
    await closed;
    first.removeAllListeners('close');
  });

  test('HEALTH-10 a caller may reset a connection that has sent nothing', async () => {
    const connections = await serve(ok);
    const socket = await dial();
    await waitFor('the server has the connection', () => connections.size === 1);
    socket.resetAndDestroy();
    await waitFor('it is closed', () => connections.size === 0, { timeoutMs: 3000 });
  });

  test('HEALTH-15 a connection that is closed takes no memory', async () => {
    const connections = await serve(ok);
    const collect = globalThis.gc ?? assert.fail('the tests run with --expose-gc');
    const openAndClose = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const socket = connect({ port, host: '127.0.0.1' });
        await once(socket, 'connect');
        socket.destroy();
      }
      await waitFor('all are closed', () => connections.size === 0);
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await openAndClose(200);
    const grown = (await openAndClose(2000)) - before;
    assert.ok(grown < 2 << 20, `${grown} bytes`);
  });

  test('HEALTH-14 answers that become ready at the same moment are written each in its own turn', async () => {
    let turn = 0;
    let isRunning = true;
    const count = () => {
      turn++;
      if (isRunning) setImmediate(count);
    };
    const written: number[] = [];
    let finish: () => void = () => {};
    const ready = new Promise<void>(resolve => {
      finish = resolve;
    });
    let asked = 0;
    await serve(async () => {
      asked++;
      await ready;
      return {
        ...textAnswer(200, ''),
        get body() {
          written.push(turn);
          return 'ok';
        },
      };
    });
    for (let i = 0; i < 10; i++) await dial(REQUEST);
    await waitFor('all are asked', () => asked === 10);
    count();
    finish();
    await waitFor('all are answered', () => written.length === 10);
    isRunning = false;
    assert.equal(new Set(written).size, 10, `answers in the turns ${written}`);
  });
});
