import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FAMILIES, type Family, type Ip } from '../../net/index.ts';
import type { KernelError } from '../errors.ts';
import { NetworkNamespace } from '../netns.ts';
import { RouteSocket } from '../rtnetlink/index.ts';
import { bindDatagrams, connectDatagrams, DatagramExchange } from './datagram.ts';
import { EventPoll, Ready } from './event-poll.ts';
import { closeRaw, descriptorLimit, openBound, portOf } from './raw-socket.ts';
import { encodeSocketAddress } from './socket-address.ts';
import {
  acceptStream,
  connectResult,
  connectStream,
  EAGAIN,
  endWriting,
  listenStream,
  receive,
  resetStream,
  setUserTimeout,
  transmit,
} from './stream.ts';

const LOOPBACK: Readonly<Record<Family, Ip>> = { IPv4: '127.0.0.1' as Ip, IPv6: '::1' as Ip };
const ANY: Readonly<Record<Family, Ip>> = { IPv4: '0.0.0.0' as Ip, IPv6: '::' as Ip };
const OPTIONS = { keepAliveSeconds: 15 };

let namespace: NetworkNamespace;
let poll: EventPoll;
const failures: unknown[] = [];

before(() => {
  namespace = NetworkNamespace.create();
  const route = RouteSocket.open({ namespace });
  const lo = route.link('lo');
  assert.ok(lo);
  route.setLink(lo, { up: true });
  route.addAddress(lo, { ip: '10.0.0.7' as Ip, prefix: 32 });
  route.close();
  poll = new EventPoll(error => failures.push(error));
});

after(() => {
  poll.close();
  namespace.close();
});

/** Waits for the next events of a descriptor. */
function ready(fd: number): Promise<number> {
  return new Promise(resolve => {
    poll.add(fd, events => {
      poll.remove(fd);
      resolve(events);
    });
  });
}

/** Opens both ends of one connection. */
async function pair(family: Family = 'IPv4'): Promise<readonly [client: number, server: number]> {
  const listener = listenStream(namespace, family, LOOPBACK[family], 0, OPTIONS);
  const client = connectStream(namespace, family, encodeSocketAddress(LOOPBACK[family], portOf(listener)), OPTIONS);
  await ready(client);
  assert.equal(connectResult(client), undefined);
  const server = acceptStream(listener, Buffer.alloc(28));
  assert.ok(server >= 0);
  closeRaw(listener);
  return [client, server];
}

describe('streams', () => {
  for (const family of FAMILIES) {
    test(`KERNEL-8 an ${family} stream carries bytes both ways and ends each way separately`, async () => {
      const [client, server] = await pair(family);
      const buffer = Buffer.alloc(16);
      assert.equal(receive(server, buffer), -EAGAIN);
      assert.equal(transmit(client, Buffer.from('hello!'), 5), 5);
      await ready(server);
      assert.equal(receive(server, buffer), 5);
      assert.equal(buffer.toString('latin1', 0, 5), 'hello');
      endWriting(client);
      assert.ok((await ready(server)) & Ready.PEER_ENDED);
      assert.equal(receive(server, buffer), 0);
      assert.equal(transmit(server, Buffer.from('bye'), 3), 3);
      await ready(client);
      assert.equal(receive(client, buffer), 3);
      closeRaw(client);
      closeRaw(server);
    });
  }

  test('KERNEL-11 connecting to a port without a listener gives ECONNREFUSED', async () => {
    const fd = connectStream(namespace, 'IPv4', encodeSocketAddress(LOOPBACK.IPv4, 1), OPTIONS);
    await ready(fd);
    assert.equal(connectResult(fd), 'ECONNREFUSED');
    closeRaw(fd);
  });

  test('KERNEL-11 a reset is an error at the other end, and a full buffer gives EAGAIN', async () => {
    const [client, server] = await pair();
    setUserTimeout(client, 1000);
    const chunk = Buffer.alloc(1 << 20);
    let sent = 0;
    while (sent >= 0) sent = transmit(client, chunk, chunk.length);
    assert.equal(sent, -EAGAIN);
    resetStream(server);
    assert.ok((await ready(client)) & Ready.ERROR);
    assert.ok(receive(client, chunk) < 0);
    closeRaw(client);
  });

  test('KERNEL-8 both families can bind the same port, and no other socket can bind a bound port', () => {
    const first = listenStream(namespace, 'IPv4', ANY.IPv4, 0, OPTIONS);
    const port = portOf(first);
    const second = listenStream(namespace, 'IPv6', ANY.IPv6, port, OPTIONS);
    assert.throws(
      () => openBound(namespace, 'IPv4', 'TCP', LOOPBACK.IPv4, port, { reuse: true }),
      (error: KernelError) => error.errno === 'EADDRINUSE',
    );
    const claim = openBound(namespace, 'IPv4', 'TCP', ANY.IPv4, 0);
    assert.throws(() => listenStream(namespace, 'IPv4', LOOPBACK.IPv4, portOf(claim), OPTIONS), /EADDRINUSE/);
    for (const fd of [first, second, claim]) closeRaw(fd);
  });

  test('KERNEL-11 reads the descriptor limit of the process', () => {
    assert.ok(descriptorLimit() > 100);
  });
});

describe('datagrams', () => {
  for (const family of FAMILIES) {
    test(`KERNEL-11 an ${family} answer comes from the address that the client sent to`, async () => {
      const asked = family === 'IPv4' ? ('10.0.0.7' as Ip) : LOOPBACK.IPv6;
      const server = bindDatagrams(namespace, family, ANY[family], 0);
      const client = connectDatagrams(namespace, family, encodeSocketAddress(asked, portOf(server)));
      const exchange = new DatagramExchange(family);
      assert.equal(exchange.receive(server), -EAGAIN);
      transmit(client, Buffer.from('question'), 8);
      await ready(server);
      assert.equal(exchange.receive(server), 8);
      assert.equal(exchange.payload.toString('latin1', 0, 8), 'question');
      const peer = Buffer.from(exchange.peer);
      const own = Buffer.from(exchange.own);
      assert.equal(peer.readUInt16BE(2), portOf(client));
      exchange.payload.write('answer');
      // A connected socket accepts the answer only from the address that it is connected to.
      assert.equal(exchange.send(server, 6, peer, own), 6);
      await ready(client);
      const buffer = Buffer.alloc(100);
      assert.equal(receive(client, buffer), 6);
      closeRaw(server);
      closeRaw(client);
    });
  }

  test('KERNEL-11 a datagram to a port without a listener makes the next call fail', async () => {
    const client = connectDatagrams(namespace, 'IPv4', encodeSocketAddress(LOOPBACK.IPv4, 1));
    transmit(client, Buffer.from('?'), 1);
    await delay(5);
    assert.equal(receive(client, Buffer.alloc(1)), -111);
    closeRaw(client);
  });
});

describe('events', () => {
  test('KERNEL-11 a descriptor that was removed in a turn receives no more events of that turn', async () => {
    const [a, b] = await pair();
    const [c, d] = await pair();
    const called: string[] = [];
    const swap = (other: number, name: string) => () => {
      called.push(name);
      poll.remove(other);
    };
    poll.add(a, swap(c, 'a'));
    poll.add(c, swap(a, 'c'));
    await delay(5);
    assert.equal(called.length, 1, 'the second event of the turn is for a descriptor that is no longer watched');
    poll.remove(a);
    poll.remove(c);
    for (const fd of [a, b, c, d]) closeRaw(fd);
  });

  test('KERNEL-11 the poll reports a handler that throws and calls the other handlers', async () => {
    const [a, b] = await pair();
    poll.add(a, () => {
      throw new Error('oops');
    });
    poll.defer(() => {
      throw new Error('later');
    });
    const events = await ready(b);
    assert.ok(events & Ready.WRITE);
    await delay(5);
    assert.deepEqual(failures.map(String).sort(), ['Error: later', 'Error: oops']);
    poll.remove(a);
    assert.equal(poll.size, 0);
    closeRaw(a);
    closeRaw(b);
  });
});
