import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpConnection } from './http-connection.ts';
import { type Turn, TurnQueue } from './turn-queue.ts';

const REQUEST = 'GET / HTTP/1.1\r\n\r\n';

/** The socket of a peer that takes its answers only when the test lets it. */
class PeerSocket extends Duplex {
  readonly timeouts: number[] = [];
  /** Takes what was written. */
  accept: () => void = () => {};

  override _read(): void {}
  override _write(_chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    this.accept = callback;
  }
  setTimeout(ms: number): this {
    this.timeouts.push(ms);
    return this;
  }
}

/** The connection uses only this part of a socket. */
function asSocket(socket: PeerSocket): Socket {
  return socket as Duplex as Socket;
}

class CountedTurns extends TurnQueue {
  readonly waiting = new Set<Turn>();
  override add(turn: Turn): void {
    this.waiting.add(turn);
    super.add(turn);
  }
  override remove(turn: Turn): void {
    this.waiting.delete(turn);
    super.remove(turn);
  }
}

const place = { answered: () => {}, free: () => {} };

describe('an HTTP connection', () => {
  let socket: PeerSocket;
  let turns: CountedTurns;
  let connection: HttpConnection;
  beforeEach(() => {
    socket = new PeerSocket();
    turns = new CountedTurns();
    connection = new HttpConnection({ socket: asSocket(socket), place, turns, bytes: Buffer.from('') });
  });
  afterEach(() => void connection.destroy());

  /** Starts a request whose headers and body the server has read. Returns its response. */
  function serve(): ServerResponse {
    const request = new IncomingMessage(asSocket(socket));
    request.complete = true;
    const response = new ServerResponse(request);
    connection.serve(request, response, () => {});
    return response;
  }
  async function turn(count = 3): Promise<void> {
    for (let i = 0; i < count; i++) await nextTurn();
  }

  test('HEALTH-14 while a request runs, the connection reads one packet ahead and no more', async () => {
    const received: string[] = [];
    connection.on('data', data => received.push(String(data)));
    const response = serve();
    await turn();
    socket.push(REQUEST);
    await turn();
    assert.equal(socket.isPaused(), true);
    socket.push(REQUEST);
    await turn();
    assert.deepEqual([received, socket.readableLength], [[], REQUEST.length]);
    response.emit('close');
    await turn(10);
    assert.deepEqual(received, [REQUEST, REQUEST]);
  });

  test('HEALTH-14 a connection is first until its first bytes have passed', async () => {
    assert.equal(connection.isFirst, true);
    connection.resume();
    await turn();
    socket.push('GET ');
    await turn();
    assert.equal(connection.isFirst, false);
  });

  test('HEALTH-14 a connection that is closed waits for no turn', () => {
    connection.resume();
    connection.read(0);
    assert.equal(turns.waiting.size, 1);
    connection.destroy();
    assert.equal(turns.waiting.size, 0);
  });

  test('HEALTH-15 a connection is busy while its request runs, but neither before nor while it writes', async () => {
    assert.equal(connection.isBusy, false);
    serve();
    assert.equal(connection.isBusy, true);
    connection.write('answer');
    assert.equal(connection.isBusy, false);
    socket.accept();
    assert.equal(connection.isBusy, true);
  });

  test('HEALTH-16 only while it writes, the peer must take bytes', () => {
    connection.write('answer');
    assert.deepEqual(socket.timeouts, [5000]);
    socket.accept();
    assert.deepEqual(socket.timeouts, [5000, 0]);
  });

  test('HEALTH-10 an answer is one write to the socket, with headers and body', async () => {
    let corked = 0;
    socket.cork = () => void corked++;
    connection.cork();
    connection.write('headers');
    connection.write('body');
    connection.uncork();
    assert.equal(corked, 1);
  });

  test('HEALTH-16 if the socket breaks, the connection is closed', async () => {
    socket.destroy(new Error('ECONNRESET'));
    await once(connection, 'close');
  });
});
