import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { LiveNode } from '../../test/support/live-node.ts';
import { service, slice } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { systemClock } from '../lib/clock.ts';
import type { Ip } from '../net/index.ts';
import { HttpServer } from '../observe/http/index.ts';
import { inspectionHandler } from './handler.ts';
import { liveRoute } from './live.ts';

const SERVICES = 900;
const READERS = 8;

/** Follows the stream over several connections. Prints the number of each reader that has seen the last Service. */
const READER = `
const { get } = require('http');
const [port, readers, last] = process.argv.slice(1);
for (let i = 0; i < Number(readers); i++) {
  get({ port, host: '127.0.0.1', path: '/v1/live', agent: false }, response => {
    let rest = '';
    response.setEncoding('utf8').on('data', text => {
      const events = (rest + text).split('\\n\\n');
      rest = events.pop();
      for (const event of events) {
        if (event.startsWith('event: hello')) console.log('open');
        if (event.startsWith('event: rows') && event.includes('"' + last + '"')) console.log('seen');
      }
    });
  });
}
process.stdin.resume().on('end', () => process.exit());
`;

describe('the live stream under load', () => {
  const open: { close(): void }[] = [];
  const children: ChildProcess[] = [];
  const sockets: Socket[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const one of open.splice(0)) one.close();
  });

  async function openServer(node: LiveNode): Promise<number> {
    open.push(node.hub);
    const handle = inspectionHandler({ routes: [liveRoute(node.hub)] });
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
    open.push(server);
    return server.port;
  }

  /** Sends the request, and never reads. */
  async function openSlowReader(port: number): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }

  test(`INSPECT-26 ${READERS} readers follow many changes while other readers take nothing`, async () => {
    const node = new LiveNode({ clock: systemClock });
    node.history.listed();
    node.sync();
    const port = await openServer(node);
    for (let i = 0; i < 4; i++) await openSlowReader(port);
    const args = ['-e', READER, String(port), String(READERS), `s${SERVICES - 1}`];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    let printed = '';
    child.stdout.on('data', data => (printed += data));
    const count = (word: string) => printed.split('\n').filter(line => line === word).length;
    await waitFor('all readers are connected', () => count('open') === READERS && node.hub.readers === READERS + 4);
    for (let i = 0; i < SERVICES; i++) {
      node.add(service(`s${i}`, { clusterIP: `10.97.${i >> 8}.${i & 255}` }));
      node.add(slice(`s${i}-x`, [`10.1.${i >> 8}.${i & 255}`]));
      node.sync();
      if (i % 50 === 0) await new Promise(resolve => setImmediate(resolve));
    }
    await waitFor('all readers have seen the last Service', () => count('seen') >= READERS);
    // Each Service is computed when it came, and at most once more when the kernel had it.
    assert.ok(node.hub.rowsComputed <= 2 * SERVICES, `${node.hub.rowsComputed} rows for ${SERVICES} Services`);
    child.stdin.end();
    await once(child, 'exit');
    await waitFor('the readers are gone', () => node.hub.readers <= 4);
  });
});
