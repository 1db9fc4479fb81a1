import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { effect } from '@preact/signals';
import type { LiveEvent, ServiceRow } from '../../../inspect/index.ts';
import { testRow } from '../test-row.ts';
import type { Browser } from './browser.ts';
import { connection, hello, lastFailure } from './live.ts';
import { LiveClient } from './live-client.ts';
import { listState, services, servicesVersion } from './services.ts';
import { deniedReason, setToken, token } from './token.ts';

/** A proxy whose answers a test decides, at a real server. */
const proxy = {
  run: 'one',
  rows: [] as readonly ServiceRow[],
  token: undefined as string | undefined,
  streams: new Set<ServerResponse>(),
  /** What `/v1/live` answers instead of a stream. */
  failure: undefined as number | undefined,
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (proxy.token !== undefined && request.headers['pointsman-token'] !== proxy.token) {
    return void response.writeHead(401).end('{"error":"the token is wrong"}');
  }
  if (request.url === '/v1/live') answerLive(response);
  else if (request.url === '/v1/services') answerServices(response);
  else response.writeHead(404).end();
}

function answerServices(response: ServerResponse): void {
  const lines = [{ schema: 'pointsman.services/v1' }, ...proxy.rows];
  response.end(`${lines.map(line => JSON.stringify(line)).join('\n')}\n`);
}

function answerLive(response: ServerResponse): void {
  if (proxy.failure !== undefined) return void response.writeHead(proxy.failure).end('{"error":"not now"}');
  proxy.streams.add(response);
  response.on('close', () => proxy.streams.delete(response));
  const { run } = proxy;
  send(response, {
    kind: 'hello',
    run,
    node: 'node-a',
    mode: 'nftables',
    historyId: 0,
    pulse: [],
    countsConnections: false,
    listsSockets: false,
  });
}

function send(response: ServerResponse, event: LiveEvent): void {
  response.write(`event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
}

function sendAll(event: LiveEvent): void {
  for (const stream of proxy.streams) send(stream, event);
}

function breakStreams(): void {
  for (const stream of proxy.streams) stream.destroy();
}

const server = createServer(answer);
const originalFetch = globalThis.fetch;
const listeners = new Set<() => void>();
const browser: Browser & { isHidden: boolean } = {
  isHidden: false,
  onChange: listener => void listeners.add(listener),
};
const client = new LiveClient(browser, 1);
/** The page becomes visible or the machine online: the client retries at once. */
function wake(): void {
  for (const listener of listeners) listener();
}

/** Resolves when the signals that the condition reads make it true. */
function until(condition: () => boolean): Promise<void> {
  return new Promise(resolve => {
    const end = effect(() => {
      if (!condition()) return;
      resolve();
      // The effect cannot end itself while it runs.
      queueMicrotask(() => end());
    });
  });
}

const hasServices = (...keys: readonly string[]) =>
  until(() => servicesVersion.value > 0 && [...services.keys()].sort().join() === keys.join());

describe('the client of the live stream', () => {
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address);
    // All tests of a kind run in one process, so this must end with these tests.
    globalThis.fetch = (path, options) => originalFetch(`http://127.0.0.1:${address.port}/${path}`, options);
    proxy.rows = [testRow('a/one'), testRow('a/two')];
    void client.run();
  });

  after(() => {
    client.close();
    globalThis.fetch = originalFetch;
    server.close();
    server.closeAllConnections();
  });

  beforeEach(() => until(() => connection.value === 'live' && listState.value === 'complete'));

  test('PAGE-32 the page lists, follows changes, and lists again when the proxy says so', async () => {
    await hasServices('a/one', 'a/two');
    sendAll({ kind: 'rows', rows: [testRow('a/new')], removed: ['a/two'] });
    await hasServices('a/new', 'a/one');
    proxy.rows = [testRow('a/one')];
    sendAll({ kind: 'relist' });
    await hasServices('a/one');
  });

  test('PAGE-33 the last data stays while the proxy is gone, and a new run replaces it', async () => {
    proxy.failure = 503;
    breakStreams();
    await until(() => connection.value === 'reconnecting' && lastFailure.value === 'not now');
    assert.deepEqual([...services.keys()], ['a/one'], 'the last data stays');
    proxy.failure = undefined;
    proxy.run = 'two';
    proxy.rows = [testRow('b/other')];
    wake();
    await until(() => connection.value === 'live' && hello.value?.run === 'two');
    await hasServices('b/other');
    assert.equal(lastFailure.value, undefined);
  });

  test('PAGE-34 a hidden page closes its stream, and opens it again when it is visible', async () => {
    browser.isHidden = true;
    wake();
    await until(() => connection.value === 'paused');
    browser.isHidden = false;
    wake();
    await until(() => connection.value === 'live');
  });

  test('PAGE-35 the page asks for a token, again if it is wrong, and goes on with the right one', async () => {
    proxy.token = 'right';
    breakStreams();
    wake();
    await until(() => connection.value === 'reconnecting' || connection.value === 'denied');
    wake();
    await until(() => connection.value === 'denied' && deniedReason.value === 'the token is wrong');
    setToken('wrong');
    await until(() => token.value === 'wrong' && deniedReason.value !== undefined);
    setToken('right');
    await until(() => connection.value === 'live');
    assert.equal(deniedReason.value, undefined);
  });
});
