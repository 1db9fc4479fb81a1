import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ProgrammedSockets } from '../../../../test/support/programmed-sockets.ts';
import { TestNetwork, TestSocket } from '../../../../test/support/test-socket.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { withCapabilities } from '../../../../test/support/with-capabilities.ts';
import { namespaceCookie } from '../../../kernel/netns.ts';
import { endWriting } from '../../../kernel/sockets/index.ts';
import { type Family, type Ip, joinHostPort } from '../../../net/index.ts';
import type { ConnectedSocket } from '../../mode.ts';
import { SocketReader } from './reader.ts';

const ip = (text: string) => text as Ip;
const PORT = 8080;
const [A, B, A6] = [ip('10.244.1.11'), ip('10.244.1.12'), ip('fd00:244::11')];
const SERVICE = ip('10.96.0.10');
const SERVICE6 = ip('fd00:96::10');

describe('SOCKETS-1 sockets that the programs led to endpoints', () => {
  let node: TestNetwork;
  let pod: TestNetwork;
  let programmed: ProgrammedSockets;
  let reader: SocketReader;
  const open = new Set<TestSocket>();

  before(() => {
    node = new TestNetwork([A, A6], PORT);
    pod = new TestNetwork([A, B, A6], PORT);
    programmed = new ProgrammedSockets({ serves: [node.namespace, pod.namespace] });
    const poolA = programmed.addPool([{ ip: A, port: PORT }]);
    programmed.setTarget(SERVICE, 80, { pool: poolA });
    programmed.setTarget(SERVICE, 81, { pool: programmed.addPool([{ ip: B, port: PORT }]) });
    programmed.setTarget(SERVICE6, 80, { pool: programmed.addPool([{ ip: A6, port: PORT }]) });
    reader = new SocketReader(namespaceCookie(node.namespace));
  });
  after(() => {
    reader.close();
    programmed.close();
    node.close();
    pod.close();
  });

  function connect(network: TestNetwork, family: Family, to: Ip, port = 80): TestSocket {
    const socket = new TestSocket(network.namespace, family);
    open.add(socket);
    assert.equal(socket.connect(to, port), 'connected');
    return socket;
  }

  afterEach(() => {
    for (const socket of open) socket.close();
    open.clear();
  });

  async function read(): Promise<readonly ConnectedSocket[]> {
    const { sockets, count, incomplete } = await reader.read(programmed.map('peers'));
    assert.equal(incomplete, undefined);
    const all = [...sockets];
    assert.equal(all.length, count);
    return all;
  }

  function text({ service, endpoint, caller, isOfNode, state }: ConnectedSocket): string {
    const [to, at] = [service, endpoint].map(each => joinHostPort(each.ip, each.port));
    return `${caller?.ip} of ${isOfNode ? 'node' : 'pod'} to ${to} at ${at}: ${state}`;
  }

  test('SOCKETS-1 IPv4, IPv6 and IPv4 in IPv6 are listed, of all namespaces, with their own addresses', async () => {
    const sockets = [
      connect(node, 'IPv4', SERVICE),
      connect(node, 'IPv6', SERVICE6),
      connect(pod, 'IPv4', SERVICE, 81),
      connect(pod, 'IPv6', SERVICE),
      connect(pod, 'IPv6', SERVICE6),
    ];
    const found = await read();
    assert.deepEqual(found.map(text).sort(), [
      '10.244.1.11 of node to 10.96.0.10:80 at 10.244.1.11:8080: ESTAB',
      '10.244.1.11 of pod to 10.96.0.10:80 at 10.244.1.11:8080: ESTAB',
      '10.244.1.12 of pod to 10.96.0.10:81 at 10.244.1.12:8080: ESTAB',
      'fd00:244::11 of node to [fd00:96::10]:80 at [fd00:244::11]:8080: ESTAB',
      'fd00:244::11 of pod to [fd00:96::10]:80 at [fd00:244::11]:8080: ESTAB',
    ]);
    const port = (name: string) => Number(name.replace(/^.*:/, ''));
    assert.deepEqual(found.map(({ caller }) => caller?.port).sort(), sockets.map(socket => port(socket.own())).sort());
  });

  test('SOCKETS-1 sockets that are closed, refused, or connected elsewhere are not listed', async () => {
    const closed = connect(pod, 'IPv4', SERVICE);
    const elsewhere = connect(pod, 'IPv4', SERVICE);
    elsewhere.disconnect();
    assert.equal(elsewhere.connect(B, PORT), 'connected');
    programmed.setTarget(SERVICE, 82, { pool: programmed.addPool([{ ip: B, port: PORT + 1 }]) });
    const refused = new TestSocket(pod.namespace, 'IPv4');
    open.add(refused);
    assert.equal(refused.connect(SERVICE, 82), 'ECONNREFUSED');
    assert.equal((await read()).length, 1);
    open.delete(closed);
    closed.close();
    // The kernel frees what a socket remembers some moments after it closed the socket.
    await waitFor('the closed socket disappears', async () => (await read()).length === 0);
  });

  test('SOCKETS-1 a closing connection shows its state', async () => {
    endWriting(connect(pod, 'IPv4', SERVICE).fd);
    await waitFor('the state', async () => (await read()).every(({ state }) => state === 'FIN-WAIT-2'));
    assert.equal((await read()).length, 1);
  });

  test('SOCKETS-4 more sockets than one part of the kernel has are listed once each', async () => {
    const sockets = Array.from({ length: 900 }, () => connect(pod, 'IPv4', SERVICE));
    const found = await read();
    assert.equal(found.length, sockets.length);
    assert.equal(new Set(found.map(({ caller }) => caller?.port)).size, sockets.length);
  });

  test('SOCKETS-3 CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON are enough', async () => {
    connect(pod, 'IPv4', SERVICE);
    const limited = new SocketReader(0n);
    const { count, incomplete } = await withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN', 'CAP_PERFMON'], () =>
      limited.read(programmed.map('peers')),
    );
    limited.close();
    assert.deepEqual([count, incomplete], [1, undefined]);
  });

  test('SOCKETS-3 without CAP_PERFMON the reading says so, and works as soon as the process has it', async () => {
    connect(pod, 'IPv4', SERVICE);
    const limited = new SocketReader(0n);
    const read = () => limited.read(programmed.map('peers'));
    const refused = await withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], read);
    assert.deepEqual([...refused.sockets], []);
    assert.match(refused.incomplete ?? '', /^the proxy cannot list sockets: .*EPERM.*CAP_PERFMON/s);
    assert.equal((await read()).count, 1);
    limited.close();
  });
});
