import assert from 'node:assert/strict';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { connect as connectTls, createSecureContext, type SecureVersion } from 'node:tls';
import { type Certificate, certificates } from '../../../test/support/certificates.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Ip } from '../../net/index.ts';
import { ConnectionTable, type HttpHandler, HttpServer, type HttpServerTls, textAnswer } from './index.ts';

const contextOf = ({ cert, key }: Certificate) => createSecureContext({ cert, key, minVersion: 'TLSv1.2' });

describe('an HTTP server with TLS', () => {
  const open: { close(): void }[] = [];
  const sockets: Socket[] = [];
  const connections = new ConnectionTable(3);
  const serve = async (tls: Partial<HttpServerTls> = {}, handle: HttpHandler = () => textAnswer(200, 'hello')) => {
    const { server: certificate } = certificates();
    const settings = { context: () => contextOf(certificate), ...tls };
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle, tls: settings, connections });
    open.push(server);
    return server.port;
  };
  const dial = (port: number) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    return socket;
  };

  afterEach(async () => {
    for (const server of open.splice(0)) server.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitFor('no connection', () => connections.size === 0);
  });

  test('PAGE-4 it answers over TLS 1.2 and 1.3, and refuses older versions', async () => {
    const port = await serve();
    assert.equal(await get(port, { version: 'TLSv1.2' }), 'hello');
    assert.equal(await get(port, { version: 'TLSv1.3' }), 'hello');
    await assert.rejects(get(port, { version: 'TLSv1.1' }));
  });

  test('PAGE-4 a new connection gets the certificate of its time', async () => {
    const { ca, server, behindIntermediate, intermediate } = certificates();
    let current = contextOf(server);
    const port = await serve({ context: () => current });
    assert.equal(await get(port, { ca: ca.cert }), 'hello');
    current = contextOf(behindIntermediate);
    await assert.rejects(get(port, { ca: certificates().otherCa.cert }));
    assert.equal(await get(port, { ca: `${intermediate.cert}${ca.cert}` }), 'hello');
  });

  test('PAGE-5 a handshake that does not end is closed in time, also if bytes keep coming', async () => {
    const port = await serve({ handshakeTimeoutMs: 200 });
    const socket = dial(port);
    // The beginning of a record that announces 512 bytes.
    socket.write(Buffer.from('1603010200', 'hex'));
    const drip = setInterval(() => socket.write('\0'), 20);
    try {
      await closed(socket);
    } finally {
      clearInterval(drip);
    }
  });

  test('PAGE-5 bytes that are no handshake close the connection', async () => {
    const socket = dial(await serve());
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await closed(socket.resume());
  });

  test('PAGE-5 unfinished handshakes count as connections, and give way to others', async () => {
    const port = await serve();
    for (let i = 0; i < 6; i++) dial(port).write(Buffer.from('1603010200', 'hex'));
    await waitFor('all places taken', () => connections.size === 3);
    assert.equal(await get(port), 'hello');
  });

  test('PAGE-5 a peer that may not begin a handshake is disconnected', async () => {
    const peers: string[] = [];
    const port = await serve({ admits: peer => peers.push(peer) === 1 });
    assert.equal(await get(port), 'hello');
    await assert.rejects(get(port));
    assert.deepEqual(peers, ['127.0.0.1', '127.0.0.1']);
  });

  test('PAGE-4 an endless stream goes over TLS, and ends when the caller disconnects', async () => {
    let disconnected: AbortSignal | undefined;
    async function* parts() {
      for (;;) yield 'x'.repeat(100_000);
    }
    const port = await serve({}, request => {
      disconnected = request.disconnected;
      return { status: 200, headers: {}, body: parts() };
    });
    const socket = connectTls({ port, host: '127.0.0.1', ca: certificates().ca.cert });
    sockets.push(socket);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let read = 0;
    for await (const bytes of socket) {
      read += bytes.length;
      if (read > 1_000_000) break;
    }
    await waitFor('the end of the stream', () => disconnected?.aborted === true);
  });
});

/** Also a reset closes a connection. */
function closed(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    socket.once('close', () => resolve());
  });
}

interface Call {
  readonly ca?: string;
  readonly version?: SecureVersion;
}

function get(port: number, { ca = certificates().ca.cert, version }: Call = {}): Promise<string> {
  const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, ca, agent: false, ...versions }, response => {
      let text = '';
      response.on('data', bytes => {
        text += bytes;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}
