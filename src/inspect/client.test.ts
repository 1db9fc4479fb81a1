import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { askProxy, ProxyClientError, readProxyLines } from './client.ts';

describe('asking the running proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ask-'));
  const path = join(folder, 'proxy.sock');
  const open: { close(): void; closeAllConnections(): void }[] = [];

  afterEach(() => {
    for (const server of open.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  async function serve(listener: RequestListener): Promise<void> {
    const server = createServer(listener);
    open.push(server);
    server.listen(path);
    await once(server, 'listening');
  }

  const failure = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => assert.fail('it answered'),
      (error: unknown) => error,
    );
    assert.ok(error instanceof ProxyClientError);
    return [error.kind, error.message] as const;
  };
  const list = async (lines: AsyncIterable<unknown>) => {
    const all: unknown[] = [];
    for await (const line of lines) all.push(line);
    return all;
  };

  test('INSPECT-19 without a socket, or a process behind it, the message says what to do', async () => {
    const [kind, message] = await failure(askProxy(path, '/v1/status'));
    assert.equal(kind, 'no-socket');
    assert.equal(
      message,
      `there is no socket at ${path}: check that a Pointsman proxy runs on this node, or run the command in its pod: kubectl -n kube-system exec POD -- kube-proxy …`,
    );
    const file = join(folder, 'file');
    writeFileSync(file, '');
    assert.match((await failure(askProxy(file, '/v1/status')))[1], /^no proxy listens at .*: it has ended\. Start it/);
  });

  test('INSPECT-19 an older proxy, a wrong question and another program get their own messages', async () => {
    await serve((request, response) => {
      if (request.url === '/v1/new') response.writeHead(404).end('{"error":"there is no path"}');
      else if (request.url === '/v1/wrong')
        response.writeHead(400).end('{"error":"the parameter \\"x\\" is not known"}');
      else if (request.url === '/v1/page') response.end('<html>');
      else response.writeHead(500).end('oops');
    });
    assert.deepEqual(await failure(askProxy(path, '/v1/new')), [
      'refused',
      'the proxy does not know /v1/new: it is older than this command',
    ]);
    assert.deepEqual(await failure(askProxy(path, '/v1/wrong')), ['refused', 'the parameter "x" is not known']);
    assert.deepEqual(await failure(askProxy(path, '/v1/page')), [
      'broken',
      'the answer to /v1/page is no JSON: is this a Pointsman proxy?',
    ]);
    assert.deepEqual(await failure(askProxy(path, '/v1/other')), ['refused', 'the proxy answered with the status 500']);
  });

  test('INSPECT-19 a proxy of another network namespace is refused, if the caller asks for its own', async () => {
    await serve((_request, response) => response.setHeader('Pointsman-Network-Namespace', 'net:[1]').end('{"a":1}'));
    assert.deepEqual(await askProxy(path, '/'), { a: 1 });
    assert.deepEqual(await askProxy(path, '/', { networkNamespace: 'net:[1]' }), { a: 1 });
    const [kind, message] = await failure(askProxy(path, '/', { networkNamespace: 'net:[2]' }));
    assert.equal(kind, 'elsewhere');
    assert.match(message, /works in another network namespace \(net:\[1\]\) than this command \(net:\[2\]\)/);
  });

  test('INSPECT-19 a busy proxy is asked again after the time that it names', async () => {
    let asked = 0;
    await serve((_request, response) => {
      if (++asked < 3) response.writeHead(429, { 'Retry-After': '0' }).end('{"error":"busy"}');
      else response.end('{"a":1}');
    });
    assert.deepEqual([await askProxy(path, '/'), asked], [{ a: 1 }, 3]);
  });

  test('INSPECT-19 a proxy that is silent or ends in the middle of its answer is an error', async () => {
    await serve((request, response) => {
      if (request.url === '/silent') return;
      response.write('{"a":1}\n{"a"', () => request.url === '/half' && response.destroy());
      if (request.url === '/cut') response.end();
    });
    assert.deepEqual(await failure(askProxy(path, '/silent', { timeoutMs: 100 })), [
      'broken',
      'the proxy did not answer within 0.1 s',
    ]);
    assert.match((await failure(askProxy(path, '/stuck', { timeoutMs: 100 })))[1], /within 0\.1 s/);
    assert.match((await failure(list(readProxyLines(path, '/half'))))[1], /^the answer broke off/);
    assert.match((await failure(list(readProxyLines(path, '/cut'))))[1], /ended in the middle of a line$/);
  });

  test('INSPECT-5 INSPECT-19 lines come one by one, empty lines are signs of life, and a caller may stop early', async () => {
    let closed: Promise<unknown> | undefined;
    await serve((request, response) => {
      closed = once(response, 'close');
      response.write('{"a":1}\n\n{"a"');
      setImmediate(() => response.write(':2}\n'));
      if (request.url === '/all') setTimeout(() => response.end('{"a":3}\n'), 20);
    });
    assert.deepEqual(await list(readProxyLines(path, '/all')), [{ a: 1 }, { a: 2 }, { a: 3 }]);
    for await (const line of readProxyLines(path, '/endless')) {
      assert.deepEqual(line, { a: 1 });
      break;
    }
    await closed;
  });
});
