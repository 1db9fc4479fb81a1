import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ProgrammedSockets } from '../../../../test/support/programmed-sockets.ts';
import { TestNetwork, TestSocket } from '../../../../test/support/test-socket.ts';
import type { Ip } from '../../../net/index.ts';

const ip = (text: string) => text as Ip;
const [A, B] = [ip('10.244.1.11'), ip('10.244.1.12')];
const [A6, B6] = [ip('fd00:244::11'), ip('fd00:244::12')];
const PORT = 8080;
const SERVICE = ip('10.96.0.10');
const OTHER_SERVICE = ip('10.96.0.11');
const SERVICE6 = ip('fd00:96::10');

const MAPPED = '[::ffff:a60:a]:80';

describe('EBPF-24 connect() to a Service connects to an endpoint', () => {
  let pod: TestNetwork;
  let sockets: ProgrammedSockets;

  before(() => {
    pod = new TestNetwork([A, B, A6, B6], PORT);
    sockets = new ProgrammedSockets({ serves: [pod.namespace] });
    const pool = sockets.addPool([A, B].map(ip => ({ ip, port: PORT })));
    sockets.setTarget(SERVICE, 80, { pool });
    sockets.setTarget(OTHER_SERVICE, 81, { pool: sockets.addPool([{ ip: B, port: PORT }]) });
    sockets.setTarget(SERVICE6, 80, { pool: sockets.addPool([A6, B6].map(ip => ({ ip, port: PORT }))) });
  });
  after(() => {
    sockets.close();
    pod.close();
  });

  /** Who answers many connections. */
  function answers(address: Ip, port: number, family?: 'IPv6'): readonly string[] {
    return [...new Set(Array.from({ length: 30 }, () => pod.ask(address, port, family)))].sort();
  }

  test('EBPF-24 sockets of both families reach all endpoints', () => {
    assert.deepEqual(answers(SERVICE, 80), [`${A}:${PORT}`, `${B}:${PORT}`]);
    assert.deepEqual(answers(SERVICE6, 80), [`[${A6}]:${PORT}`, `[${B6}]:${PORT}`]);
  });

  test('EBPF-3 an IPv6 socket reaches the endpoints of an IPv4 Service', () => {
    assert.deepEqual(answers(SERVICE, 80, 'IPv6'), [`${A}:${PORT}`, `${B}:${PORT}`]);
  });

  test('EBPF-3 getpeername shows the Service', () => {
    for (const [address, family, name] of [
      [SERVICE, 'IPv4', '10.96.0.10:80'],
      [SERVICE, 'IPv6', MAPPED],
      [SERVICE6, 'IPv6', '[fd00:96::10]:80'],
    ] as const) {
      const socket = new TestSocket(pod.namespace, family);
      assert.equal(socket.peer(), 'ENOTCONN');
      assert.equal(socket.connect(address, 80), 'connected');
      assert.equal(socket.peer(), name);
      socket.close();
      pod.takenBy();
    }
  });
});
