import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { holdConnections } from '../../../../test/support/connection-holder.ts';
import type { ProgrammedSockets } from '../../../../test/support/programmed-sockets.ts';
import { ENDPOINTS, LEFT_ALONE, type SocketLab, withSocketLab } from '../../../../test/support/socket-lab.ts';
import { type TestNetwork, TestSocket } from '../../../../test/support/test-socket.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import type { Family, Ip } from '../../../net/index.ts';
import { type Endpoint, encodeSlot, TargetFlag } from './index.ts';

const SERVICES: Readonly<Record<Family, Ip>> = { IPv4: '10.96.0.10' as Ip, IPv6: 'fd00:96::10' as Ip };
const [PLAIN, REFUSING] = ['10.96.0.11' as Ip, '10.96.0.12' as Ip];
const FAMILIES = ['IPv4', 'IPv6'] as const;

function withServices(work: (lab: SocketLab) => void | Promise<void>): Promise<void> {
  return withSocketLab(lab => {
    const { sockets } = lab;
    for (const family of FAMILIES) {
      for (const endpoint of ENDPOINTS[family]) sockets.countEndpoint(endpoint);
      sockets.setTarget(SERVICES[family], 80, {
        pool: sockets.addPool(ENDPOINTS[family]),
        flags: TargetFlag.leastConnections,
      });
    }
    sockets.setTarget(PLAIN, 80, { pool: sockets.addPool(ENDPOINTS.IPv4) });
    sockets.setTarget(REFUSING, 80, { flags: TargetFlag.refuse });
    return work(lab);
  });
}

const counts = (sockets: ProgrammedSockets, family: Family = 'IPv4') =>
  ENDPOINTS[family].map(endpoint => sockets.activeOf(endpoint) ?? Number.NaN);
const total = (sockets: ProgrammedSockets, family: Family = 'IPv4') =>
  counts(sockets, family).reduce((sum, count) => sum + count, 0);

const SOCKETS = [
  { name: 'IPv4', family: 'IPv4', socket: 'IPv4' },
  { name: 'IPv6', family: 'IPv6', socket: 'IPv6' },
  { name: 'IPv4 in an IPv6 socket', family: 'IPv4', socket: 'IPv6' },
] as const;

/** The Service of the family gets these endpoints, or so many that refuse, and compares all of them. */
function compareAll(sockets: ProgrammedSockets, family: Family, wanted: number | readonly Endpoint[]) {
  const { ip } = ENDPOINTS[family][0] ?? assert.fail('there are no endpoints');
  const endpoints =
    typeof wanted === 'number' ? Array.from({ length: wanted }, (_, i) => ({ ip, port: 9000 + i })) : wanted;
  for (const endpoint of endpoints) sockets.countEndpoint(endpoint);
  const flags = TargetFlag.leastConnections | TargetFlag.compareAll;
  sockets.setTarget(SERVICES[family], 80, { pool: sockets.addPool(endpoints), flags });
  return endpoints;
}

/** Connects to endpoints that refuse. The socket counts nevertheless, until it is closed. */
function knock(network: TestNetwork, ip: Ip, family: Family): TestSocket {
  const socket = new TestSocket(network.namespace, family);
  assert.equal(socket.connect(ip, 80), 'ECONNREFUSED');
  return socket;
}

function open(network: TestNetwork, ip: Ip, family: Family): TestSocket {
  const socket = new TestSocket(network.namespace, family);
  assert.equal(socket.connect(ip, 80), 'connected');
  return socket;
}

describe('EBPF-14 least connections', () => {
  for (const family of FAMILIES) {
    test(`EBPF-14 the endpoint with fewer connections gets the next one, and closing counts off (${family})`, () =>
      withServices(({ sockets, pod, otherPod }) => {
        const opened = Array.from({ length: 80 }, (_, i) => open(i % 2 ? pod : otherPod, SERVICES[family], family));
        assert.equal(total(sockets, family), 80);
        assert.ok(
          Math.max(...counts(sockets, family)) - Math.min(...counts(sockets, family)) <= 8,
          `${counts(sockets, family)}`,
        );
        for (const socket of opened) socket.close();
        assert.deepEqual(counts(sockets, family), [0, 0, 0, 0]);
      }));
  }

  test('EBPF-14 of two endpoints, the one with more connections is chosen only if chance picks it twice', () =>
    withServices(({ sockets, pod }) => {
      const [busy, idle] = ENDPOINTS.IPv4;
      if (!busy || !idle) assert.fail('there are no endpoints');
      const pool = sockets.addPool([busy, idle]);
      sockets.setTarget(SERVICES.IPv4, 80, { pool, flags: TargetFlag.leastConnections });
      sockets.countEndpoint(busy, 5);
      const taken = Array.from({ length: 400 }, () => pod.ask(SERVICES.IPv4, 80));
      const share = taken.filter(name => name.startsWith(idle.ip)).length / taken.length;
      // 0.75 is expected. Without least connections it would be 0.5. The limits are six standard deviations away.
      assert.ok(share > 0.62 && share < 0.88, `${share}`);
    }));

  test('EBPF-14 sockets of IPv6 count at the endpoints of IPv4 Services', () =>
    withServices(({ sockets, pod }) => {
      const socket = open(pod, SERVICES.IPv4, 'IPv6');
      assert.deepEqual([total(sockets), total(sockets, 'IPv6')], [1, 0]);
      socket.close();
      assert.equal(total(sockets), 0);
    }));

  test('EBPF-14 a socket that connects again counts once, wherever it connects to', () =>
    withServices(({ sockets, pod }) => {
      const socket = open(pod, SERVICES.IPv4, 'IPv4');
      const again = (ip: Ip) => {
        socket.disconnect();
        return socket.connect(ip, 80);
      };
      for (let i = 0; i < 10; i++) assert.equal(again(SERVICES.IPv4), 'connected');
      assert.equal(total(sockets), 1);
      assert.equal(again(PLAIN), 'connected');
      assert.equal(total(sockets), 0, 'a Service without least connections');
      for (const [ip, result] of [
        [REFUSING, 'ECONNREFUSED'],
        ['10.96.0.99' as Ip, LEFT_ALONE],
      ] as const) {
        assert.equal(again(SERVICES.IPv4), 'connected');
        assert.equal(total(sockets), 1);
        assert.equal(again(ip), result);
        assert.equal(total(sockets), 0, `after ${result}`);
      }
      socket.close();
      assert.deepEqual(counts(sockets), [0, 0, 0, 0]);
    }));

  test('EBPF-14 a socket that failed to connect, or was disconnected, counts until it is closed', () =>
    withServices(({ sockets, pod }) => {
      const [SILENT, nobody] = ['10.96.0.13' as Ip, { ip: '10.244.1.11' as Ip, port: 9 }];
      sockets.countEndpoint(nobody);
      sockets.setTarget(SILENT, 80, { pool: sockets.addPool([nobody]), flags: TargetFlag.leastConnections });
      const failed = new TestSocket(pod.namespace, 'IPv4');
      for (let i = 0; i < 3; i++) assert.equal(failed.connect(SILENT, 80), 'ECONNREFUSED');
      assert.equal(sockets.activeOf(nobody), 1);
      failed.close();
      assert.equal(sockets.activeOf(nobody), 0);
      const disconnected = open(pod, SERVICES.IPv4, 'IPv4');
      disconnected.disconnect();
      assert.equal(total(sockets), 1);
      disconnected.close();
      assert.equal(total(sockets), 0);
    }));

  test('EBPF-14 a socket that changes the family is counted off at the former one', () =>
    withServices(({ sockets, pod }) => {
      const socket = open(pod, SERVICES.IPv6, 'IPv6');
      assert.deepEqual([total(sockets), total(sockets, 'IPv6')], [0, 1]);
      socket.disconnect();
      assert.equal(socket.connect(SERVICES.IPv4, 80), 'connected');
      assert.deepEqual([total(sockets), total(sockets, 'IPv6')], [1, 0]);
      socket.close();
      assert.deepEqual([total(sockets), total(sockets, 'IPv6')], [0, 0]);
    }));

  test('EBPF-14 a killed process is counted off', () =>
    withServices(async ({ sockets, pod }) => {
      const holder = await holdConnections(pod.namespace, SERVICES.IPv4, 80, 8);
      await waitFor('all connections are counted', () => total(sockets) === 8);
      process.kill(holder.pid ?? assert.fail('the holder does not run'), 'SIGKILL');
      await waitFor('all connections are counted off', () => total(sockets) === 0);
    }));

  test('EBPF-14 a new generation goes on counting', () =>
    withServices(({ sockets, pod }) => {
      const socket = open(pod, SERVICES.IPv4, 'IPv4');
      sockets.replace();
      assert.equal(total(sockets), 1);
      socket.close();
      assert.equal(total(sockets), 0);
    }));

  test('EBPF-14 no count goes below 0 when an endpoint went and came back', () =>
    withServices(({ sockets, pod }) => {
      const opened = Array.from({ length: 8 }, () => open(pod, SERVICES.IPv4, 'IPv4'));
      for (const endpoint of ENDPOINTS.IPv4) sockets.countEndpoint(endpoint);
      for (const socket of opened) socket.close();
      assert.deepEqual(counts(sockets), [0, 0, 0, 0]);
    }));

  test('EBPF-14 a count below 0 counts as 0', () =>
    withServices(({ sockets, pod }) => {
      const [first, ...others] = ENDPOINTS.IPv4;
      for (const endpoint of others) sockets.countEndpoint(endpoint, 5);
      sockets.countEndpoint(first ?? assert.fail(), -1);
      const opened = Array.from({ length: 40 }, () => open(pod, SERVICES.IPv4, 'IPv4'));
      assert.ok((counts(sockets)[0] ?? 0) > 0, `${counts(sockets)}`);
      for (const socket of opened) socket.close();
    }));

  test('EBPF-14 an endpoint that nobody counts is reached nevertheless', () =>
    withSocketLab(({ sockets, pod }) => {
      const pool = sockets.addPool(ENDPOINTS.IPv4);
      sockets.setTarget(SERVICES.IPv4, 80, { pool, flags: TargetFlag.leastConnections });
      assert.equal(pod.answers(SERVICES.IPv4, 80).length, ENDPOINTS.IPv4.length);
    }));

  for (const { name, family, socket } of SOCKETS) {
    test(`EBPF-14 of at most 16 endpoints that are all compared, the one with fewest connections is chosen (${name})`, () =>
      withSocketLab(({ sockets, pod }) => {
        for (const length of [1, 2, 4, 15, 16]) {
          const endpoints = compareAll(sockets, family, length);
          for (const least of endpoints) {
            for (const endpoint of endpoints) sockets.countEndpoint(endpoint, endpoint === least ? 4 : 5);
            const client = knock(pod, SERVICES[family], socket);
            assert.equal(sockets.activeOf(least), 5, `${least.port} of ${length}`);
            client.close();
          }
        }
      }));
  }

  test('EBPF-14 where all endpoints are compared, they never differ by more than one', () =>
    withSocketLab(({ sockets, pod }) => {
      const endpoints = compareAll(sockets, 'IPv4', 16);
      const opened: TestSocket[] = [];
      for (let i = 0; i < 80; i++) {
        opened.push(knock(pod, SERVICES.IPv4, 'IPv4'));
        const active = endpoints.map(endpoint => sockets.activeOf(endpoint) ?? Number.NaN);
        assert.ok(Math.max(...active) - Math.min(...active) <= 1, `${active}`);
      }
      for (const socket of opened) socket.close();
    }));

  test('EBPF-14 where all endpoints are compared, chance decides between those that have the same number', () =>
    withServices(({ sockets, pod }) => {
      compareAll(sockets, 'IPv4', ENDPOINTS.IPv4);
      assert.equal(pod.answers(SERVICES.IPv4, 80).length, ENDPOINTS.IPv4.length);
    }));

  test('EBPF-14 where all endpoints are compared, one that nobody counts is reached by chance only', () =>
    withServices(({ sockets, pod }) => {
      const [busy, idle, uncounted] = ENDPOINTS.IPv4;
      if (!busy || !idle || !uncounted) assert.fail('there are no endpoints');
      compareAll(sockets, 'IPv4', [busy, uncounted, idle]);
      sockets.map('active4').remove(encodeSlot(uncounted));
      sockets.countEndpoint(busy, 5);
      const taken = new Set(Array.from({ length: 80 }, () => pod.ask(SERVICES.IPv4, 80)));
      assert.deepEqual([...taken].sort(), [`${idle.ip}:8080`, `${uncounted.ip}:8080`]);
    }));

  test('EBPF-14 a run that grows while the target still compares all is served, and its first 16 slots are compared', () =>
    withSocketLab(({ sockets, pod }) => {
      const endpoints = compareAll(sockets, 'IPv4', 17);
      for (const endpoint of endpoints) sockets.countEndpoint(endpoint, endpoint === endpoints[15] ? 4 : 5);
      knock(pod, SERVICES.IPv4, 'IPv4').close();
      const client = knock(pod, SERVICES.IPv4, 'IPv4');
      assert.deepEqual(
        endpoints.map(endpoint => sockets.activeOf(endpoint)),
        new Array(17).fill(5),
      );
      client.close();
    }));
});
