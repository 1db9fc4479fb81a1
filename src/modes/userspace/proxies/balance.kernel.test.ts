import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { describe, test } from 'node:test';
import { service, slice } from '../../../../test/support/objects.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { type UserspaceHarness, withUserspace } from '../../../../test/support/userspace-mode.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import {
  ANNOTATION_BALANCE,
  ANNOTATION_HASH_BY,
  ANNOTATION_WEIGHTS,
  ANNOTATION_ZONE_WEIGHTS,
} from '../../../api/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { bindUdp, connectTcp, connectUdp, listenTcp } from '../../../kernel/sockets/index.ts';
import type { Ip } from '../../../net/index.ts';

const VIP = '10.96.0.1' as Ip;
const AT_ONCE = 25;
const WAIT = { timeoutMs: 10_000 };

/** The endpoints 10.244.1.1 to 10.244.1.5. */
const podsUpTo = (count: number) => Array.from({ length: count }, (_, i) => `10.244.1.${i + 1}` as Ip);

/** Clients connect from 10.1.0.0/16. Endpoints say their address and keep connections open. */
class Machine {
  readonly harness: UserspaceHarness;
  readonly #namespace: NetworkNamespace;
  readonly #servers: Server[] = [];
  /** Connections that are open, by endpoint. */
  readonly open = new Map<Ip, number>();

  constructor(harness: UserspaceHarness, namespace: NetworkNamespace) {
    this.harness = harness;
    this.#namespace = namespace;
    runIn(namespace, 'ip', ['addr', 'add', '10.1.0.1/16', 'dev', 'lo']);
  }

  async serve(pods: readonly Ip[]): Promise<void> {
    for (const pod of pods) {
      this.open.set(pod, 0);
      const count = (by: number) => this.open.set(pod, (this.open.get(pod) ?? 0) + by);
      const server = await listenTcp(this.#namespace, pod, 8080, connection => {
        count(1);
        connection.on('error', () => {}).on('close', () => count(-1));
        connection.write(pod);
      });
      this.#servers.push(server);
    }
  }

  async balance(
    annotations: Record<string, string>,
    pods: readonly Ip[],
    zones: readonly string[] = [],
  ): Promise<void> {
    const endpoints = pods.map((ip, i) => ({ ip, zone: zones[i] }));
    this.harness.set(service('web', { annotations }), slice('web-1', endpoints));
    await this.harness.sync();
  }

  /** Connects, and returns the connection with the endpoint that answered. */
  async connect(source?: Ip): Promise<{ readonly socket: Socket; readonly endpoint: string }> {
    const socket = await connectTcp(this.#namespace, VIP, 80, { source });
    socket.on('error', () => {});
    const [answer] = await once(socket, 'data');
    return { socket, endpoint: String(answer) };
  }

  /** The endpoint that each of the sources gets. Undefined: the kernel chooses the source. */
  async ask(sources: readonly (Ip | undefined)[]): Promise<readonly string[]> {
    const endpoints: string[] = [];
    for (let i = 0; i < sources.length; i += AT_ONCE) {
      const answers = await Promise.all(sources.slice(i, i + AT_ONCE).map(source => this.connect(source)));
      for (const { socket, endpoint } of answers) {
        endpoints.push(endpoint);
        socket.destroy();
      }
    }
    return endpoints;
  }

  /** How often each of the endpoints answers that many connections. */
  async counts(pods: readonly Ip[], connections: number): Promise<readonly number[]> {
    const endpoints = await this.ask(Array.from({ length: connections }, () => undefined));
    return pods.map(pod => endpoints.filter(endpoint => endpoint === pod).length);
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }
}

function withMachine(pods: readonly Ip[], work: (machine: Machine, namespace: NetworkNamespace) => Promise<void>) {
  return withUserspace(async (harness, namespace) => {
    const machine = new Machine(harness, namespace);
    try {
      await machine.serve(pods);
      await work(machine, namespace);
    } finally {
      machine.close();
    }
  });
}

function chiSquare(counts: readonly number[], shares: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((sum, count, i) => {
    const expected = total * (shares[i] ?? 0);
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

describe('distribution of real connections', () => {
  const three = podsUpTo(3);

  test('BALANCE-51 without a choice and with round-robin all endpoints get exactly the same number', () =>
    withMachine(three, async machine => {
      for (const annotations of [{}, { [ANNOTATION_BALANCE]: 'round-robin' }]) {
        await machine.balance(annotations, three);
        assert.deepEqual(await machine.counts(three, 90), [30, 30, 30]);
      }
    }));

  test('BALANCE-51 weights are exact, of addresses and zones, and an endpoint of weight 0 gets nothing', () =>
    withMachine(three, async machine => {
      const weighted = { [ANNOTATION_BALANCE]: 'weighted' };
      await machine.balance({ ...weighted, [ANNOTATION_WEIGHTS]: `${three[0]}=5,${three[1]}=0` }, three);
      assert.deepEqual(await machine.counts(three, 60), [50, 0, 10]);
      await machine.balance({ ...weighted, [ANNOTATION_ZONE_WEIGHTS]: 'near=2' }, three, ['near', 'far', 'near']);
      assert.deepEqual(await machine.counts(three, 50), [20, 10, 20]);
    }));

  // With two degrees of freedom, chance exceeds x with probability exp(-x/2): 28 once in 1.2 million runs.
  test('BALANCE-52 random gives every endpoint its share by chance, and not by turns', () =>
    withMachine(three, async machine => {
      await machine.balance({ [ANNOTATION_BALANCE]: 'random' }, three);
      const endpoints = await machine.ask(Array.from({ length: 600 }, () => undefined));
      const counts = three.map(pod => endpoints.filter(endpoint => endpoint === pod).length);
      assert.ok(chiSquare(counts, [1 / 3, 1 / 3, 1 / 3]) < 28, String(counts));
      // Of 599 pairs about 200 are equal, with a standard deviation of 12. Turns would make none equal.
      const repeats = endpoints.filter((endpoint, i) => endpoint === endpoints[i - 1]).length;
      assert.ok(repeats > 130 && repeats < 270, String(repeats));
    }));

  test('BALANCE-53 with least connections all endpoints stay even while connections open and close at random', () =>
    withMachine(three, async machine => {
      await machine.balance({ [ANNOTATION_BALANCE]: 'least-connections' }, three);
      const sockets: Socket[] = [];
      const load = 31;
      for (let round = 0; round < 40; round++) {
        const added = await Promise.all(Array.from({ length: load - sockets.length }, () => machine.connect()));
        sockets.push(...added.map(({ socket }) => socket));
        const open = [...machine.open.values()];
        for (const count of open) assert.ok(Math.abs(count - load / 3) <= 1, String(open));
        for (let i = 0; i < 5; i++) {
          const [socket] = sockets.splice(Math.floor(Math.random() * sockets.length), 1);
          socket?.destroy();
        }
        await waitFor('the closed connections are gone', () => sum(machine.open.values()) === sockets.length, WAIT);
        await waitFor('the mode knows', () => machine.harness.mode.tcpConnections === sockets.length, WAIT);
      }
      for (const socket of sockets) socket.destroy();
    }));

  test('BALANCE-54 a client address keeps its endpoint, and at most 2 of N move when one of N endpoints changes', () =>
    withMachine(podsUpTo(5), async machine => {
      const [pods, fewer] = [podsUpTo(5), podsUpTo(4)];
      const clients = Array.from({ length: 250 }, (_, i) => `10.1.${i % 7}.${i}` as Ip);
      const hashed = { [ANNOTATION_BALANCE]: 'consistent-hash' };
      await machine.balance(hashed, pods);
      const before = await machine.ask(clients);
      for (const pod of pods) {
        const share = before.filter(endpoint => endpoint === pod).length / clients.length;
        assert.ok(share > 0.5 / pods.length && share < 1.5 / pods.length, `${pod}: ${share}`);
      }
      const moved = (from: readonly string[], to: readonly string[]) => to.filter((pod, i) => pod !== from[i]).length;
      await machine.balance(hashed, fewer);
      const after = await machine.ask(clients);
      assert.ok(moved(before, after) <= (2 / pods.length) * clients.length, `${moved(before, after)} moved`);
      await machine.balance(hashed, pods);
      assert.deepEqual(await machine.ask(clients), before);
    }));

  test('BALANCE-54 with the port in the hash one address gets all endpoints, and without it one', () =>
    withMachine(three, async machine => {
      const one = Array.from({ length: 60 }, () => '10.1.0.9' as Ip);
      const hashed = { [ANNOTATION_BALANCE]: 'consistent-hash' };
      await machine.balance(hashed, three);
      assert.equal(new Set(await machine.ask(one)).size, 1);
      // An endpoint is left out by chance with a probability of about 3 * (2/3)^60, once in ten billion runs.
      await machine.balance({ ...hashed, [ANNOTATION_HASH_BY]: 'client-address-and-port' }, three);
      assert.equal(new Set(await machine.ask(one)).size, 3);
    }));

  test('BALANCE-54 a client whose endpoint refuses always gets the same other one', () =>
    withMachine(three.slice(0, 2), async machine => {
      await machine.balance({ [ANNOTATION_BALANCE]: 'consistent-hash' }, three);
      const clients = Array.from({ length: 60 }, (_, i) => `10.1.3.${i}` as Ip);
      const before = await machine.ask(clients);
      assert.deepEqual(await machine.ask(clients), before);
      assert.deepEqual([...new Set(before)].sort(), three.slice(0, 2));
    }));
});

test('BALANCE-50 BALANCE-51 BALANCE-54 UDP clients are balanced as connections are', () =>
  withUserspace(async (harness, namespace) => {
    runIn(namespace, 'ip', ['addr', 'add', '10.1.0.1/16', 'dev', 'lo']);
    const pods = podsUpTo(2);
    const servers = pods.map(pod => {
      const server = bindUdp(namespace, pod, 5353);
      return server.on('message', (_, { port, address }) => server.send(pod, port, address));
    });
    const ask = async (source: Ip) => {
      const client = await connectUdp(namespace, VIP, 53, { source });
      try {
        client.send('hello');
        const [answer] = await once(client, 'message');
        return String(answer);
      } finally {
        client.close();
      }
    };
    const balance = async (annotations: Record<string, string>) => {
      const ports = [{ name: '', protocol: 'UDP', port: 5353 }] as const;
      const dns = service('dns', { annotations, ports: [{ protocol: 'UDP', port: 53 }] });
      harness.set(dns, slice('dns-1', pods, { ports }));
      await harness.sync();
    };
    try {
      await balance({ [ANNOTATION_BALANCE]: 'weighted', [ANNOTATION_WEIGHTS]: `${pods[0]}=3` });
      const got: string[] = [];
      for (let i = 0; i < 20; i++) got.push(await ask('10.1.0.5' as Ip));
      assert.equal(got.filter(pod => pod === pods[0]).length, 15);
      await balance({ [ANNOTATION_BALANCE]: 'consistent-hash' });
      const clients = Array.from({ length: 20 }, (_, i) => `10.1.4.${i}` as Ip);
      const hashed: string[] = [];
      for (const client of [...clients, ...clients]) hashed.push(await ask(client));
      assert.deepEqual(hashed.slice(20), hashed.slice(0, 20));
      assert.equal(new Set(hashed).size, 2);
    } finally {
      for (const server of servers) server.close();
    }
  }));

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
