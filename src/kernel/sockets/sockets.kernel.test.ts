import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { RouteSocket } from '../rtnetlink/index.ts';
import { bindUdp, connectTcp, connectUdp, listenTcp } from './index.ts';

const HERE = '127.0.0.1' as Ip;
const HERE6 = '::1' as Ip;
const OTHER = '127.0.0.9' as Ip;
const FAR = '10.1.2.3' as Ip;
/** No machine has this address, although it is in the network of the link. */
const MISSING = '192.0.2.9' as Ip;

describe('sockets in a network namespace', () => {
  let namespace: NetworkNamespace;

  before(() => {
    namespace = NetworkNamespace.create();
    const route = RouteSocket.open({ namespace });
    const lo = route.link('lo');
    assert.ok(lo);
    route.setLink(lo, { up: true });
    const bridge = route.addLink({ kind: 'bridge', name: 'br0' });
    route.setLink(bridge, { up: true });
    route.addAddress(bridge, { ip: '192.0.2.1' as Ip, prefix: 24 });
    route.close();
  });

  after(() => namespace.close());

  for (const ip of [HERE, HERE6]) {
    test(`KERNEL-11 TCP over ${ip} carries bytes, and the server sees the client's address`, async () => {
      const server = await listenTcp(namespace, ip, 80, peer => peer.end(`you are ${peer.remoteAddress}`));
      const client = await connectTcp(namespace, ip, 80);
      assert.equal(await textOf(client), `you are ${ip}`);
      await closed(server);
    });

    test(`KERNEL-11 UDP over ${ip} carries a datagram and its answer`, async () => {
      const server = bindUdp(namespace, ip, 53);
      server.on('message', (bytes, from) => server.send(`${bytes} from ${from.address}`, from.port, from.address));
      const client = await connectUdp(namespace, ip, 53);
      client.send('hello');
      const [answer] = await once(client, 'message');
      assert.equal(String(answer), `hello from ${ip}`);
      client.close();
      server.close();
    });
  }

  test('KERNEL-11 a connection comes from the source address that the caller chose', async () => {
    const server = await listenTcp(namespace, HERE, 80, peer => peer.end(`${peer.remoteAddress}`));
    assert.equal(await textOf(await connectTcp(namespace, HERE, 80, { source: OTHER })), OTHER);
    await closed(server);
    const bound = bindUdp(namespace, HERE, 53);
    const client = await connectUdp(namespace, HERE, 53, { source: OTHER });
    client.send('');
    const [, from] = await once(bound, 'message');
    assert.equal(from.address, OTHER);
    client.close();
    bound.close();
  });

  test('KERNEL-11 a refused connection gives ECONNREFUSED', async () => {
    await assert.rejects(connectTcp(namespace, HERE, 81), {
      code: 'KERNEL_SOCKET',
      errno: 'ECONNREFUSED',
      operation: 'connect to TCP 127.0.0.1:81',
    });
  });

  test('KERNEL-11 an address without a route gives ENETUNREACH', async () => {
    await assert.rejects(connectTcp(namespace, FAR, 80), { code: 'KERNEL_SOCKET', errno: 'ENETUNREACH' });
    await assert.rejects(connectUdp(namespace, FAR, 80), { code: 'KERNEL_SOCKET', errno: 'ENETUNREACH' });
  });

  test('KERNEL-11 an ICMP error for a datagram gives ECONNREFUSED', async () => {
    const client = await connectUdp(namespace, HERE, 54);
    client.send('?');
    const [error] = await once(client, 'error');
    assert.equal(error.code, 'ECONNREFUSED');
    client.close();
  });

  test('KERNEL-11 an address that is in use or of another machine cannot be bound', async () => {
    const server = await listenTcp(namespace, HERE, 80, () => undefined);
    await assert.rejects(
      listenTcp(namespace, HERE, 80, () => undefined),
      { errno: 'EADDRINUSE' },
    );
    await closed(server);
    const bound = bindUdp(namespace, HERE, 53);
    assert.throws(() => bindUdp(namespace, HERE, 53), { errno: 'EADDRINUSE', operation: 'bind UDP 127.0.0.1:53' });
    bound.close();
    assert.throws(() => bindUdp(namespace, FAR, 53), { errno: 'EADDRNOTAVAIL' });
    await assert.rejects(connectTcp(namespace, HERE, 80, { source: FAR }), { errno: 'EADDRNOTAVAIL' });
  });

  test('KERNEL-11 a new server can listen on a port as soon as the old server is closed', async () => {
    for (let round = 0; round < 2; round++) {
      const server = await listenTcp(namespace, HERE, 80, peer => peer.end('x'));
      assert.equal(await textOf(await connectTcp(namespace, HERE, 80)), 'x');
      await closed(server);
    }
  });

  test('KERNEL-11 a signal ends a connection attempt that gets no answer', async () => {
    const controller = new AbortController();
    const waiting = connectTcp(namespace, MISSING, 80, { signal: controller.signal });
    setImmediate(() => controller.abort('enough'));
    await assert.rejects(waiting, reason => reason === 'enough');
    await assert.rejects(connectTcp(namespace, HERE, 80, { signal: controller.signal }), reason => reason === 'enough');
  });

  test('KERNEL-11 a server in one namespace is not reachable from another', async () => {
    const other = NetworkNamespace.create();
    const server = await listenTcp(namespace, HERE, 80, peer => peer.end('x'));
    await assert.rejects(connectTcp(other, HERE, 80), { errno: 'ENETUNREACH' });
    await closed(server);
    other.close();
  });

  test('KERNEL-11 no descriptor stays open after successful, failed and aborted connections', async () => {
    const server = await listenTcp(namespace, HERE, 80, peer => peer.end('x'));
    const before = descriptors();
    for (let round = 0; round < 10; round++) {
      await textOf(await connectTcp(namespace, HERE, 80));
      await connectTcp(namespace, HERE, 81).catch(() => undefined);
      await connectTcp(namespace, FAR, 80).catch(() => undefined);
      await connectTcp(namespace, HERE, 80, { source: FAR }).catch(() => undefined);
      await connectTcp(namespace, MISSING, 80, { signal: AbortSignal.timeout(1) }).catch(() => undefined);
      await connectUdp(namespace, FAR, 80).catch(() => undefined);
      (await connectUdp(namespace, HERE, 80)).close();
    }
    await new Promise(resolve => setImmediate(() => setImmediate(resolve)));
    assert.equal(descriptors(), before);
    await closed(server);
  });
});

async function textOf(socket: Socket): Promise<string> {
  socket.setEncoding('utf8');
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

function closed(server: { close(done: () => void): unknown }): Promise<void> {
  return new Promise(resolve => server.close(() => resolve()));
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
