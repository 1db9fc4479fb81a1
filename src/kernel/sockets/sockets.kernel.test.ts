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
/** Nobody has it, though the link says that it is near. */
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
    test(`KERNEL-11 TCP over ${ip}: both ends see each other's bytes and addresses`, async () => {
      const server = await listenTcp(namespace, ip, 80, peer => peer.end(`you are ${peer.remoteAddress}`));
      const client = await connectTcp(namespace, ip, 80);
      assert.equal(await textOf(client), `you are ${ip}`);
      await closed(server);
    });

    test(`KERNEL-11 UDP over ${ip}: a datagram is answered`, async () => {
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

  test('KERNEL-11 a connection comes from the source that was asked for', async () => {
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

  test('KERNEL-11 a refused connection says ECONNREFUSED', async () => {
    await assert.rejects(connectTcp(namespace, HERE, 81), {
      code: 'KERNEL_SOCKET',
      errno: 'ECONNREFUSED',
      operation: 'connect to TCP 127.0.0.1:81',
    });
  });

  test('KERNEL-11 an address without a route says ENETUNREACH', async () => {
    await assert.rejects(connectTcp(namespace, FAR, 80), { code: 'KERNEL_SOCKET', errno: 'ENETUNREACH' });
    await assert.rejects(connectUdp(namespace, FAR, 80), { code: 'KERNEL_SOCKET', errno: 'ENETUNREACH' });
  });

  test('KERNEL-11 an ICMP error for a datagram shows as ECONNREFUSED', async () => {
    const client = await connectUdp(namespace, HERE, 54);
    client.send('?');
    const [error] = await once(client, 'error');
    assert.equal(error.code, 'ECONNREFUSED');
    client.close();
  });

  test('KERNEL-11 an address that is taken or foreign cannot be bound', async () => {
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

  test('KERNEL-11 a port can be listened on again at once', async () => {
    for (let round = 0; round < 2; round++) {
      const server = await listenTcp(namespace, HERE, 80, peer => peer.end('x'));
      assert.equal(await textOf(await connectTcp(namespace, HERE, 80)), 'x');
      await closed(server);
    }
  });

  test('KERNEL-11 waiting for an answer that does not come can be given up', async () => {
    const controller = new AbortController();
    const waiting = connectTcp(namespace, MISSING, 80, { signal: controller.signal });
    setImmediate(() => controller.abort('enough'));
    await assert.rejects(waiting, reason => reason === 'enough');
    await assert.rejects(connectTcp(namespace, HERE, 80, { signal: controller.signal }), reason => reason === 'enough');
  });

  test('KERNEL-11 a namespace does not hear what another one listens to', async () => {
    const other = NetworkNamespace.create();
    const server = await listenTcp(namespace, HERE, 80, peer => peer.end('x'));
    await assert.rejects(connectTcp(other, HERE, 80), { errno: 'ENETUNREACH' });
    await closed(server);
    other.close();
  });

  test('KERNEL-11 nothing stays open, whatever became of it', async () => {
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
