import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { httpCall } from '../../test/support/http-call.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openProxyAnswer } from '../inspect/index.ts';
import type { Ip } from '../net/index.ts';
import { type HttpHandler, HttpServer, jsonAnswer, listenUnix } from '../observe/http/index.ts';
import { forwardTo } from './index.ts';

describe('the page hands questions on to the proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forward-'));
  const open: HttpServer[] = [];
  let socket = '';
  let count = 0;

  after(() => rmSync(folder, { recursive: true }));

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  const startProxy = async (handle: HttpHandler) => {
    const proxy = await HttpServer.serve(onConnection => listenUnix(socket, onConnection), { handle });
    open.push(proxy);
    return proxy;
  };
  const startPage = async () => {
    socket = join(folder, `${++count}.sock`);
    const handle = forwardTo((question, options) => openProxyAnswer(socket, question, options));
    const page = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
    open.push(page);
    return page.port;
  };
  const openStream = async (port: number) => {
    const sent = request({ host: '127.0.0.1', port, path: '/v1/live', agent: false });
    sent.on('error', () => {});
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { response, disconnect: () => sent.destroy() };
  };

  test('PAGE-12 question, status and answer stay as they are, and only headers of the answer pass', async () => {
    const port = await startPage();
    const asked: unknown[] = [];
    await startProxy(({ path, rawQuery, headers }) => {
      asked.push([path, rawQuery, headers.host, headers.authorization]);
      return jsonAnswer(429, '{"a":1}', { 'Retry-After': '7', 'Set-Cookie': 'a=b', 'Content-Security-Policy': 'x' });
    });
    const headers = { Authorization: 'Bearer secret', Host: 'localhost:1' };
    const reply = await httpCall({ port, path: '/v1/explain?to=a%2Fb', headers });
    assert.deepEqual(asked, [['/v1/explain', 'to=a%2Fb', 'localhost', undefined]]);
    assert.deepEqual([reply.status, reply.body], [429, '{"a":1}']);
    assert.deepEqual([reply.headers['retry-after'], reply.headers['content-type']], ['7', 'application/json']);
    assert.equal(reply.headers['set-cookie'] ?? reply.headers['content-security-policy'], undefined);
  });

  test('PAGE-12 while no proxy listens the answer is 503 with the reason, and then the proxy answers', async () => {
    const port = await startPage();
    const gone = await httpCall({ port, path: '/v1/status' });
    assert.deepEqual([gone.status, gone.headers['retry-after']], [503, '1']);
    const { schema, error } = JSON.parse(gone.body);
    assert.equal(schema, 'pointsman.error/v1');
    assert.match(error, /^there is no socket at /);
    const proxy = await startProxy(() => jsonAnswer(200, '{}'));
    assert.equal((await httpCall({ port, path: '/v1/status' })).status, 200);
    proxy.close();
    assert.equal((await httpCall({ port, path: '/v1/status' })).status, 503);
  });

  test('PAGE-12 parts of a stream come at once, and the question ends when the browser is gone', async () => {
    const port = await startPage();
    let disconnected: AbortSignal | undefined;
    await startProxy(({ disconnected: signal }) => {
      disconnected = signal;
      return { status: 200, headers: { 'Content-Type': 'text/event-stream' }, body: oneThenWait(signal) };
    });
    const { response, disconnect } = await openStream(port);
    assert.equal(response.headers['content-type'], 'text/event-stream');
    const [first] = await once(response, 'data');
    assert.equal(String(first), 'event: hello\n\n');
    disconnect();
    await waitFor('the end of the question', () => disconnected?.aborted === true);
  });

  test('PAGE-12 a stream whose proxy ends breaks off, so that the browser notices it', async () => {
    const port = await startPage();
    const proxy = await startProxy(({ disconnected }) => ({
      status: 200,
      headers: {},
      body: oneThenWait(disconnected),
    }));
    const { response } = await openStream(port);
    await once(response, 'data');
    const broken = once(response, 'error');
    proxy.close();
    await broken;
  });

  test('PAGE-12 the proxy waits while the browser does not read', async () => {
    const port = await startPage();
    let sent = 0;
    async function* parts() {
      for (;;) {
        sent += 65_536;
        yield Buffer.alloc(65_536);
      }
    }
    await startProxy(() => ({ status: 200, headers: {}, body: parts() }));
    const { response, disconnect } = await openStream(port);
    let before = -1;
    await waitFor(
      'a stream that waits',
      () => {
        const isStill = sent === before;
        before = sent;
        return isStill && sent > 0;
      },
      { pollMs: 100 },
    );
    assert.ok(sent < 64 << 20, `${sent} bytes`);
    let read = 0;
    response.on('data', bytes => {
      read += bytes.length;
    });
    await waitFor('the rest', () => read > before);
    disconnect();
  });
});

async function* oneThenWait(signal: AbortSignal) {
  yield 'event: hello\n\n';
  await once(signal, 'abort');
}
