import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { httpCall } from '../../../test/support/http-call.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { rememberSecret } from '../../lib/secrets.ts';
import type { Ip } from '../../net/index.ts';
import { type HttpRequest, HttpServer, type HttpStream } from './index.ts';

const LOOPBACK = '127.0.0.1' as Ip;
const QUESTION = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('streamed answers', () => {
  const open: { close(): void }[] = [];
  const serve = async (body: (request: HttpRequest) => HttpStream) => {
    const handle = (request: HttpRequest) => ({ status: 200, headers: {}, body: body(request) });
    const server = await HttpServer.open({ ip: LOOPBACK, port: 0, handle });
    open.push(server);
    return server;
  };

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  test('INSPECT-5 all parts arrive in their order, without the secrets of the process', async () => {
    const secret = randomBytes(16).toString('hex');
    rememberSecret(secret);
    const { port } = await serve(async function* () {
      yield 'first\n';
      yield Buffer.from('second\n');
      yield `${secret}\n`;
    });
    for (let i = 0; i < 2; i++) assert.equal((await httpCall({ port })).body, 'first\nsecond\n<redacted>\n');
  });

  test('INSPECT-5 a reader that takes nothing holds the stream, and gets the rest when it goes on', async () => {
    const part = Buffer.alloc(256 * 1024, 'x');
    const parts = 400;
    let made = 0;
    const { port } = await serve(async function* () {
      for (; made < parts; made++) yield part;
    });
    const socket = connect(port, LOOPBACK);
    open.push({ close: () => socket.destroy() });
    let received = 0;
    let end = '';
    socket.on('data', data => {
      received += data.length;
      end = `${end}${data.subarray(-10).toString('latin1')}`.slice(-10);
    });
    socket.pause();
    socket.write(QUESTION);
    let before = -1;
    // The buffers of the kernel are full when no part was made for a while.
    const isHeld = () => {
      const held = made > 0 && made === before;
      before = made;
      return held;
    };
    await waitFor('the stream is held', isHeld, { pollMs: 300 });
    assert.ok(made < parts / 2, `${made} of ${parts} parts were made for a reader that took none`);
    socket.resume();
    await waitFor('the end of the answer', () => end.endsWith('\r\n0\r\n\r\n'));
    assert.ok(received > parts * part.length);
  });

  test('INSPECT-5 a reader that disappears ends the iteration, whether the stream waits for it or for something else', async () => {
    const steps = new EventEmitter();
    const endless = await serve(async function* () {
      try {
        yield 'first\n';
        steps.emit('begun');
        for (;;) yield Buffer.alloc(64 * 1024);
      } finally {
        steps.emit('ended');
      }
    });
    const waiting = await serve(async function* ({ disconnected }) {
      try {
        yield 'first\n';
        steps.emit('begun');
        await once(disconnected, 'abort');
      } finally {
        steps.emit('ended');
      }
    });
    for (const { port } of [endless, waiting]) {
      const socket = connect(port, LOOPBACK);
      socket.on('error', () => {});
      const isBegun = once(steps, 'begun', { signal: AbortSignal.timeout(10_000) });
      socket.write(QUESTION);
      await isBegun;
      const ended = once(steps, 'ended', { signal: AbortSignal.timeout(10_000) });
      socket.destroy();
      await ended;
    }
  });

  test('INSPECT-5 a stream that fails breaks the connection off, so that nobody takes a part for the whole', async () => {
    const { port } = await serve(async function* () {
      yield 'first\n';
      throw new Error('no luck');
    });
    await assert.rejects(httpCall({ port }), /aborted|socket hang up/);
  });

  test('INSPECT-5 the event loop runs between two parts, also for many readers at once', async () => {
    let inARow = 0;
    let longest = 0;
    let isRunning = true;
    const count = () => {
      longest = Math.max(longest, inARow);
      inARow = 0;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    const { port } = await serve(async function* () {
      for (let i = 0; i < 50; i++) {
        inARow++;
        yield 'part\n';
      }
    });
    await Promise.all(Array.from({ length: 10 }, () => httpCall({ port })));
    isRunning = false;
    assert.ok(longest <= 12, `${longest} parts were made in one turn of the event loop`);
  });
});
