import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { bodyText, eventually } from '../../../test/support/api-client.ts';
import { Http1Connection } from './http1-connection.ts';

interface Sockets {
  /** The sockets that the connection has opened. */
  readonly dialed: Socket[];
  /** The answers that the test must end. */
  readonly answers: ServerResponse[];
  readonly open: () => Promise<Socket>;
  connection(first?: Socket): Http1Connection;
}

/** Runs a test with a server that begins each answer and leaves its end to the test. */
async function withServer(act: (sockets: Sockets) => Promise<void>): Promise<void> {
  const answers: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    answers.push(response);
    response.write('begin ');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const dialed: Socket[] = [];
  const dial = async () => {
    const socket = await open();
    dialed.push(socket);
    return socket;
  };
  const address = `127.0.0.1:${port}`;
  try {
    await act({
      dialed,
      answers,
      open,
      connection: first => new Http1Connection({ dial, first, host: address, address }),
    });
  } finally {
    for (const socket of dialed) socket.destroy();
    server.closeAllConnections();
    server.close();
  }
}

const REQUEST = { method: 'GET', path: '/x', headers: {} };

test('CLIENT-7 a retired HTTP/1.1 connection closes its socket after the request that uses it', () =>
  withServer(async ({ dialed, answers, connection }) => {
    const http1 = connection();
    const response = await http1.request(REQUEST);
    http1.retire();
    assert.equal(dialed[0]?.destroyed, false);
    answers[0]?.end('end');
    assert.equal(await bodyText(response), 'begin end');
    await eventually(() => dialed[0]?.destroyed === true);
    await eventually(() => http1.hasEnded);
  }));

test('CLIENT-7 a retired HTTP/1.1 connection closes a socket that no request has used', () =>
  withServer(async ({ open, connection }) => {
    const first = await open();
    connection(first).retire();
    assert.equal(first.destroyed, true);
  }));

test('CLIENT-7 the first request opens a new socket if the one from the handshake is closed', () =>
  withServer(async ({ dialed, answers, open, connection }) => {
    const first = await open();
    first.destroy();
    const http1 = connection(first);
    const response = await http1.request(REQUEST);
    answers[0]?.end('end');
    assert.equal(await bodyText(response), 'begin end');
    assert.equal(dialed.length, 1);
    http1.close();
  }));

test('CLIENT-12 over HTTP/1.1 a request whose signal is aborted already is not sent', () =>
  withServer(async ({ dialed, connection }) => {
    const http1 = connection();
    await assert.rejects(http1.request({ ...REQUEST, signal: AbortSignal.abort() }), { code: 'aborted' });
    assert.equal(dialed.length, 0);
  }));
