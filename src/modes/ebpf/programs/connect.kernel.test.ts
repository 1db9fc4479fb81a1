import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENDPOINTS, LEFT_ALONE, type SocketLab, withSocketLab } from '../../../../test/support/socket-lab.ts';
import { TestSocket } from '../../../../test/support/test-socket.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { namespaceCookie } from '../../../kernel/netns.ts';
import { type Family, type Ip, joinHostPort } from '../../../net/index.ts';
import type { Endpoint } from './index.ts';

const [SERVICE, SERVICE6] = ['10.96.0.10' as Ip, 'fd00:96::10' as Ip];
/** A Service with one endpoint. */
const [SINGLE, SINGLE6] = ['10.96.0.11' as Ip, 'fd00:96::11' as Ip];
const [[A], [A6]] = [ENDPOINTS.IPv4, ENDPOINTS.IPv6] as unknown as readonly [readonly [Endpoint], readonly [Endpoint]];

const names = (endpoints: readonly Endpoint[]) => endpoints.map(({ ip, port }) => joinHostPort(ip, port));

function addServices({ sockets }: SocketLab): void {
  for (const [family, all, single] of [
    ['IPv4', SERVICE, SINGLE],
    ['IPv6', SERVICE6, SINGLE6],
  ] as const) {
    sockets.setTarget(all, 80, { pool: sockets.addPool(ENDPOINTS[family]) });
    sockets.setTarget(single, 80, { pool: sockets.addPool(ENDPOINTS[family].slice(0, 1)) });
  }
}

function withServices(work: (lab: SocketLab) => void | Promise<void>): Promise<void> {
  return withSocketLab(lab => {
    addServices(lab);
    return work(lab);
  });
}

/** Connects a socket, returns what getpeername says, and makes it ready for the next connection. */
function peerAfter(socket: TestSocket, ip: Ip, port: number): string {
  const result = socket.connect(ip, port);
  const peer = socket.peer();
  socket.disconnect();
  return result === 'connected' ? peer : result;
}

describe('EBPF-24 connect() to a Service', () => {
  test('EBPF-24 reaches all endpoints of the Service', () =>
    withServices(({ pod, node }) => {
      for (const network of [pod, node]) {
        assert.deepEqual(network.answers(SERVICE, 80), names(ENDPOINTS.IPv4));
        assert.deepEqual(network.answers(SERVICE6, 80), names(ENDPOINTS.IPv6));
      }
    }));

  test('EBPF-24 the socket remembers its namespace, the Service and the endpoint', () =>
    withServices(({ pod, sockets }) => {
      for (const [ip, family, endpoint] of [
        [SINGLE, 'IPv4', A],
        [SINGLE, 'IPv6', A],
        [SINGLE6, 'IPv6', A6],
      ] as const) {
        const socket = new TestSocket(pod.namespace, family);
        assert.equal(socket.connect(ip, 80), 'connected');
        const namespace = namespaceCookie(pod.namespace);
        const wanted = { namespace, service: { ip, port: 80 }, endpoint, countedBy: 0 };
        assert.deepEqual(sockets.peerOf(socket), wanted);
        socket.close();
      }
    }));
});

describe('EBPF-3 families and names of sockets', () => {
  test('EBPF-3 an IPv6 socket reaches the endpoints of an IPv4 Service', () =>
    withServices(({ pod }) => assert.deepEqual(pod.answers(SERVICE, 80, 'IPv6'), names(ENDPOINTS.IPv4))));

  test('EBPF-3 getpeername shows the Service as the process named it', () =>
    withServices(({ pod }) => {
      for (const [ip, family, name] of [
        [SERVICE, 'IPv4', '10.96.0.10:80'],
        [SERVICE, 'IPv6', '[::ffff:a60:a]:80'],
        [SERVICE6, 'IPv6', '[fd00:96::10]:80'],
      ] as const) {
        const socket = new TestSocket(pod.namespace, family);
        assert.equal(socket.peer(), 'ENOTCONN');
        assert.equal(peerAfter(socket, ip, 80), name);
        socket.close();
      }
    }));

  test('EBPF-3 a socket that connects again shows where it is connected now', () =>
    withServices(({ pod, sockets }) => {
      const socket = new TestSocket(pod.namespace, 'IPv4');
      assert.equal(peerAfter(socket, SINGLE, 80), '10.96.0.11:80');
      assert.equal(peerAfter(socket, A.ip, A.port), '10.244.1.11:8080', 'the same endpoint without the Service');
      assert.equal(sockets.peerOf(socket), undefined);
      assert.equal(peerAfter(socket, SERVICE, 80), '10.96.0.10:80');
      assert.equal(peerAfter(socket, SINGLE, 80), '10.96.0.11:80');
      socket.close();
    }));

  test('EBPF-3 an IPv6 socket that connects again may change to IPv4', () =>
    withServices(({ pod }) => {
      // The kernel itself offers no way back: after an IPv4 address the socket can reach no IPv6 address.
      const socket = new TestSocket(pod.namespace, 'IPv6');
      assert.equal(peerAfter(socket, SINGLE6, 80), '[fd00:96::11]:80');
      assert.equal(peerAfter(socket, A6.ip, A6.port), '[fd00:244::11]:8080');
      assert.equal(peerAfter(socket, SERVICE6, 80), '[fd00:96::10]:80');
      assert.equal(peerAfter(socket, SINGLE, 80), '[::ffff:a60:b]:80');
      assert.equal(peerAfter(socket, A.ip, A.port), '[::ffff:af4:10b]:8080');
      socket.close();
    }));

  test('EBPF-3 a socket whose connection failed forgets the Service when it connects again', () =>
    withServices(({ pod, sockets }) => {
      sockets.setTarget('10.96.0.12' as Ip, 80, { pool: sockets.addPool([{ ip: A.ip, port: 9 }]) });
      const socket = new TestSocket(pod.namespace, 'IPv4');
      assert.equal(socket.connect('10.96.0.12' as Ip, 80), 'ECONNREFUSED', 'nobody listens at the endpoint');
      assert.equal(socket.peer(), 'ENOTCONN');
      assert.equal(socket.connect('10.96.0.13' as Ip, 80), LEFT_ALONE);
      assert.equal(sockets.peerOf(socket), undefined);
      assert.equal(peerAfter(socket, SERVICE, 80), '10.96.0.10:80');
      socket.close();
    }));

  test('EBPF-3 a socket that does not block; a second connect changes nothing', () =>
    withServices(async ({ pod, sockets }) => {
      for (const [family, ip, other] of [
        ['IPv4', SINGLE, SERVICE],
        ['IPv6', SINGLE6, SERVICE6],
      ] as const satisfies readonly (readonly [Family, Ip, Ip])[]) {
        const socket = new TestSocket(pod.namespace, family, { isBlocking: false });
        assert.equal(socket.connect(ip, 80), 'EINPROGRESS');
        await waitFor('the socket is connected', () => socket.peer() === joinHostPort(ip, 80));
        const before = sockets.peerOf(socket);
        assert.deepEqual(before?.service, { ip, port: 80 });
        for (let i = 0; i < 3; i++) socket.connect(other, 80);
        assert.deepEqual(sockets.peerOf(socket), before);
        assert.equal(socket.peer(), joinHostPort(ip, 80));
        socket.close();
      }
    }));
});

describe('EBPF-17 what the programs leave alone', () => {
  test('EBPF-17 other addresses and ports, pools without endpoints, and UDP', () =>
    withServices(({ pod, sockets }) => {
      const [EMPTY, OUTSIDE] = ['10.96.0.20' as Ip, '10.96.0.21' as Ip];
      sockets.setTarget(EMPTY, 80, { pool: sockets.addPool([]) });
      sockets.setTarget(OUTSIDE, 80, { pool: 1_000_000 });
      assert.equal(pod.ask(SERVICE, 81), LEFT_ALONE);
      assert.equal(pod.ask('10.96.0.99' as Ip, 80), LEFT_ALONE);
      assert.equal(pod.ask('10.96.0.99' as Ip, 80, 'IPv6'), LEFT_ALONE);
      assert.equal(pod.ask(SERVICE6, 81), LEFT_ALONE);
      assert.equal(pod.ask(EMPTY, 80), LEFT_ALONE);
      assert.equal(pod.ask(OUTSIDE, 80), LEFT_ALONE, 'a pool that does not exist');
      for (const [family, ip] of [
        ['IPv4', SERVICE],
        ['IPv6', SERVICE],
        ['IPv6', SERVICE6],
      ] as const) {
        const socket = new TestSocket(pod.namespace, family, { type: 'UDP' });
        assert.equal(socket.connect(ip, 80), LEFT_ALONE);
        socket.close();
      }
    }));
});
