import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProgrammedSockets } from '../../../../test/support/programmed-sockets.ts';
import { ENDPOINTS, withSocketLab } from '../../../../test/support/socket-lab.ts';
import { type TestNetwork, TestSocket } from '../../../../test/support/test-socket.ts';
import { namespaceCookie } from '../../../kernel/netns.ts';
import { type Family, type Ip, joinHostPort } from '../../../net/index.ts';
import { decodeAffinity, type Endpoint, encodeAffinity, encodeAffinityKey, TargetFlag } from './index.ts';

const IDENTITY = 0xabcdef0123456789n;
const SERVICES: Readonly<Record<Family, Ip>> = { IPv4: '10.96.0.10' as Ip, IPv6: 'fd00:96::10' as Ip };
const TRIES = 12;
const SECONDS = 10;

/** Adds a Service with affinity. Returns its pool. */
function addService(sockets: ProgrammedSockets, family: Family, endpoints = ENDPOINTS[family]): number {
  const pool = sockets.addPool(endpoints);
  sockets.setMembers(pool, endpoints);
  const target = { pool, flags: TargetFlag.affinity, affinitySeconds: SECONDS, identity: IDENTITY };
  sockets.setTarget(SERVICES[family], 80, target);
  sockets.setNodePort(family, 30080, target);
  return pool;
}

/** The one listener that answers all of the client's connections. */
function only(network: TestNetwork, ip: Ip, port = 80): string {
  const answers = network.answers(ip, port, undefined, TRIES);
  assert.equal(answers.length, 1, `${ip}: ${answers.join()}`);
  return answers[0] ?? '';
}

/** The endpoints without the one of that name. */
const without = (name: string, family: Family): readonly Endpoint[] =>
  ENDPOINTS[family].filter(({ ip, port }) => joinHostPort(ip, port) !== name);

/** Makes the client's last connection older. */
function age(sockets: ProgrammedSockets, family: Family, network: TestNetwork, seconds: number): void {
  const map = sockets.map(family === 'IPv4' ? 'affinity4' : 'affinity6');
  const key = encodeAffinityKey({ client: namespaceCookie(network.namespace), identity: IDENTITY });
  const { seen, endpoint } = decodeAffinity(map.lookup(key) ?? assert.fail('the client is not remembered'));
  map.update(key, encodeAffinity({ seen: seen - BigInt(seconds * 1e9), endpoint }));
}

describe('EBPF-5 session affinity', () => {
  for (const family of ['IPv4', 'IPv6'] as const) {
    const service = SERVICES[family];

    test(`EBPF-5 each namespace keeps its endpoint, at all frontends of the service port (${family})`, () =>
      withSocketLab(({ sockets, pod, otherPod, node }) => {
        addService(sockets, family);
        const nodeIp = (family === 'IPv4' ? '192.168.0.2' : 'fd00:192::2') as Ip;
        sockets.addNodeAddress(nodeIp);
        const endpoints = [pod, otherPod, node].map(network => {
          const endpoint = only(network, service);
          assert.equal(only(network, nodeIp, 30080), endpoint);
          return endpoint;
        });
        assert.deepEqual(
          [pod, otherPod, node].map(network => only(network, service)),
          endpoints,
          'other clients change nothing',
        );
      }));

    test(`EBPF-5 the time-out begins anew with each connection, and after it chance chooses again (${family})`, () =>
      withSocketLab(({ sockets, pod }) => {
        addService(sockets, family);
        const endpoint = only(pod, service);
        for (let i = 0; i < 3; i++) {
          age(sockets, family, pod, SECONDS - 3);
          assert.equal(pod.ask(service, 80), endpoint);
        }
        const later = Array.from({ length: 40 }, () => {
          age(sockets, family, pod, SECONDS + 1);
          return pod.ask(service, 80);
        });
        assert.equal(new Set(later).size, ENDPOINTS[family].length);
      }));

    test(`EBPF-5 a client leaves an endpoint that goes, and keeps the new one when the former is back (${family})`, () =>
      withSocketLab(({ sockets, pod }) => {
        const pool = addService(sockets, family);
        const first = only(pod, service);
        const rest = without(first, family);
        sockets.setPool(pool, rest);
        sockets.setMembers(pool, [], ENDPOINTS[family]);
        sockets.setMembers(pool, rest);
        const second = only(pod, service);
        assert.notEqual(second, first);
        sockets.setPool(pool, ENDPOINTS[family]);
        sockets.setMembers(pool, ENDPOINTS[family]);
        assert.equal(only(pod, service), second);
      }));

    test(`EBPF-5 a client keeps its endpoint in a new generation, whatever number the pool has (${family})`, () =>
      withSocketLab(({ sockets, pod, otherPod }) => {
        addService(sockets, family);
        const before = [pod, otherPod].map(network => only(network, service));
        for (let i = 1; i < 4; i++) {
          sockets.replace();
          for (let pool = 0; pool < i; pool++) sockets.addPool([]);
          addService(sockets, family, ENDPOINTS[family].toReversed());
          assert.deepEqual(
            [pod, otherPod].map(network => only(network, service)),
            before,
          );
        }
      }));
  }

  test('EBPF-5 a socket that binds its own address first is the same client', () =>
    withSocketLab(({ sockets, pod }) => {
      addService(sockets, 'IPv4');
      const endpoint = only(pod, SERVICES.IPv4);
      for (const { ip } of ENDPOINTS.IPv4) {
        const socket = new TestSocket(pod.namespace, 'IPv4');
        socket.bind(ip, 0);
        assert.equal(socket.connect(SERVICES.IPv4, 80), 'connected');
        assert.ok(socket.own().startsWith(`${ip}:`));
        assert.equal(pod.takenBy(), endpoint);
        socket.close();
      }
    }));

  test('EBPF-5 a connection that another processor saw later does not end the time', () =>
    withSocketLab(({ sockets, pod }) => {
      addService(sockets, 'IPv4');
      const endpoint = only(pod, SERVICES.IPv4);
      for (let i = 0; i < TRIES; i++) {
        age(sockets, 'IPv4', pod, -2);
        assert.equal(pod.ask(SERVICES.IPv4, 80), endpoint);
      }
    }));
});
