import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type HttpAttack, HttpAttacker } from '../../../test/support/http-attack.ts';
import { assertAnsweredInTime, HttpProber } from '../../../test/support/http-prober.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Ip } from '../../net/index.ts';
import { ConnectionTable, type HttpHandler, HttpServer, type HttpServerOptions, textAnswer } from './index.ts';

const LOOPBACK = '127.0.0.1' as Ip;
const BIG_REQUEST = 'GET /big HTTP/1.1\r\nHost: a\r\n\r\n';
const SMALL_REQUEST = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
const BIG = Buffer.alloc(100_000, 'x');
/** The limits of the server, and time for a machine that is busy. */
const LIMIT_MS = 10_000;
const CLOSED_WITHIN_MS = LIMIT_MS + 5000;

describe('HTTP servers under attack', () => {
  const cleanups: (() => void | Promise<void>)[] = [];
  let port = 0;
  let calls = 0;

  async function serve(handle = pages, changed: Partial<HttpServerOptions> = {}): Promise<ConnectionTable> {
    calls = 0;
    const connections = changed.connections ?? new ConnectionTable();
    const server = await HttpServer.open({ ip: LOOPBACK, port: 0, handle, ...changed, connections });
    cleanups.push(() => server.close());
    port = server.port;
    return connections;
  }
  const pages: HttpHandler = ({ path }) => {
    if (path === '/livez') return textAnswer(200, 'alive');
    calls++;
    burn(3);
    return { status: 200, headers: {}, body: BIG };
  };
  async function attack(options: Omit<HttpAttack, 'port'>): Promise<HttpAttacker> {
    const attacker = await HttpAttacker.start({ port, ...options });
    cleanups.push(() => attacker.stop());
    return attacker;
  }
  /** Probes while `during` runs and for some time after it. */
  async function probeDuring(during: () => Promise<unknown>, afterMs = 1000): Promise<void> {
    await assertAnsweredInTime(async () => {
      calls = 0;
      const older = cleanups.length;
      const prober = await HttpProber.start(port, '/livez');
      cleanups.push(() => prober.close());
      await during();
      await delay(afterMs);
      const result = await prober.stop();
      for (const cleanup of cleanups.splice(older)) await cleanup();
      return result;
    });
  }
  function dial(text: string): Socket {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    cleanups.push(() => void socket.destroy());
    socket.write(text);
    return socket;
  }

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  test('HEALTH-14 a connection that sends many requests and reads nothing does not delay others', async () => {
    await serve();
    await probeDuring(() => attack({ connections: 1, send: BIG_REQUEST.repeat(1800) }));
    assert.ok(calls < 200, `${calls} requests ran for a caller that read no answer`);
  });

  test('HEALTH-14 two hundred connections that send requests without end do not delay others', async () => {
    await serve();
    await probeDuring(() => attack({ connections: 200, send: SMALL_REQUEST.repeat(1800), reads: true }), 1500);
  });

  test('HEALTH-14 requests of one connection run one after the other, and all are answered in order', async () => {
    let running = 0;
    let atMost = 0;
    await serve(async ({ query, text }) => {
      atMost = Math.max(atMost, ++running);
      const body = await text(10);
      await delay(1);
      running--;
      return textAnswer(200, `<${query.get('n')}${body}>`);
    });
    const request = (n: number) =>
      `PUT /?n=${n} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n${n % 2 ? 'ab' : '\r\n'}`;
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    const socket = dial(numbers.map(request).join(''));
    let received = '';
    socket.on('data', data => {
      received += data;
    });
    const expected = numbers.map(n => `<${n}${n % 2 ? 'ab' : '\r\n'}>`);
    await waitFor('all answers', () => received.includes(expected.at(-1) ?? ''));
    assert.deepEqual(received.match(/<[^>]*>/g), expected);
    assert.equal(atMost, 1);
  });

  test('HEALTH-15 a thousand idle connections give way to new ones, also to those of the same address', async () => {
    await serve();
    await probeDuring(async () => {
      const attacker = await attack({ connections: 1500 });
      await waitFor('the number of connections is limited', async () => (await attacker.open()) <= 1000);
    });
  });

  test('HEALTH-15 a new connection is answered while another address opens connections without end', async () => {
    await serve();
    await probeDuring(() => attack({ connections: 1200, from: '127.0.0.2', reconnects: true }), 1500);
  });

  test('HEALTH-15 the address with the most connections gives way, and others keep theirs', async () => {
    await serve();
    const kept = dial(SMALL_REQUEST);
    await once(kept, 'data');
    await attack({ connections: 1500, from: '127.0.0.2' });
    kept.write(SMALL_REQUEST);
    const [answer] = await once(kept, 'data', { signal: AbortSignal.timeout(5000) });
    assert.match(String(answer), /alive/);
  });

  test('HEALTH-15 all servers of the process share the places for connections', async () => {
    const connections = new ConnectionTable(10);
    await serve(pages, { connections });
    await attack({ connections: 8 });
    await serve(pages, { connections });
    await attack({ connections: 8 });
    await waitFor('ten are left', () => connections.size === 10);
  });

  test('HEALTH-16 a connection without a new request is closed', async () => {
    const connections = await serve(pages, { idleTimeoutMs: 100 });
    const socket = dial(SMALL_REQUEST);
    await once(socket, 'data');
    assert.equal(connections.size, 1);
    await waitFor('it is closed', () => connections.size === 0);
  });

  test('HEALTH-16 a caller that takes its answer in small pieces has a limited time', async () => {
    const huge = Buffer.alloc(50_000_000);
    const connections = await serve(() => ({ status: 200, headers: {}, body: huge }), { answerTimeoutMs: 500 });
    const socket = dial(BIG_REQUEST);
    const start = performance.now();
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), 20);
    });
    await waitFor('the server has the connection', () => connections.size === 1);
    await waitFor('it is closed', () => connections.size === 0);
    assert.ok(performance.now() - start > 400, 'not before its time');
  });

  test('HEALTH-16 callers that send too slowly or read nothing are disconnected, and are not before', async () => {
    const head = 'GET /livez HTTP/1.1\r\nHost: a\r\n';
    const attacks: Omit<HttpAttack, 'port' | 'connections'>[] = [
      {},
      { send: head, trickle: 'a: b\r\n' },
      { send: `${head}Content-Length: 9999\r\n\r\n`, trickle: 'a', reads: true },
      { send: BIG_REQUEST.repeat(500) },
    ];
    const tables: ConnectionTable[] = [];
    for (const options of attacks) {
      tables.push(await serve());
      await attack({ connections: 2, ...options });
    }
    const counts = () => tables.map(({ size }) => size);
    await delay(LIMIT_MS / 2);
    assert.deepEqual(counts(), [2, 2, 2, 2]);
    await waitFor('all are closed', () => counts().every(count => count === 0), {
      timeoutMs: CLOSED_WITHIN_MS,
      pollMs: 200,
      details: () => `open connections: ${counts()}`,
    });
  });
});

function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
