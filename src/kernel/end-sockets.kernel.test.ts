import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setLoopbackUp, withNamespace } from '../../test/support/namespaces.ts';
import type { Ip } from '../net/index.ts';
import { endSockets, type TcpEnds } from './end-sockets.ts';
import { connectTcp, listenTcp } from './sockets/index.ts';

const LOCALHOST = '127.0.0.1' as Ip;

function endsOf({ localPort = 0, remotePort = 0 }: Socket): TcpEnds {
  return { family: 'IPv4', local: { ip: LOCALHOST, port: localPort }, remote: { ip: LOCALHOST, port: remotePort } };
}

test('ENDING-3 the kernel ends exactly the named sockets, and never one that listens', async () => {
  await withNamespace(async namespace => {
    setLoopbackUp(namespace);
    const accepted: Socket[] = [];
    // An IPv6 socket that accepts IPv4 too: its connections have mapped addresses.
    const server = await listenTcp(
      namespace,
      '::' as Ip,
      8080,
      socket => void accepted.push(socket.on('error', () => {})),
    );
    const clients = await Promise.all([1, 2].map(() => connectTcp(namespace, LOCALHOST, 8080)));
    const [first, second] = clients as [Socket, Socket];
    try {
      const broken = once(first, 'error');
      const gone = endsOf(second);
      const foreign = { ...gone, local: { ip: LOCALHOST, port: 8080 }, remote: { ip: LOCALHOST, port: 9 } };
      assert.deepEqual(await endSockets([foreign], namespace), [], 'only a listener has this local address');
      assert.deepEqual(await endSockets([endsOf(first)], namespace), [endsOf(first)]);
      assert.match(String(await broken), /ECONNABORTED/);
      const ofServer = { ...gone, local: gone.remote, remote: gone.local };
      const reset = once(second, 'error');
      assert.deepEqual(await endSockets([ofServer], namespace), [ofServer], 'a socket with mapped addresses');
      assert.match(String(await reset), /ECONNRESET/);
      const third = await connectTcp(namespace, LOCALHOST, 8080);
      third.destroy();
    } finally {
      for (const socket of [...clients, ...accepted]) socket.destroy();
      server.close();
    }
  });
});
