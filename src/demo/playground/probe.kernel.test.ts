import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setLoopbackUp, withRoutes } from '../../../test/support/namespaces.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { bindUdp, listenTcp } from '../../kernel/sockets/index.ts';
import type { Ip } from '../../net/index.ts';
import { EchoServer } from './echo.ts';
import { type ProbeResult, probe } from './probe.ts';

const HERE = '127.0.0.1' as Ip;
const HERE6 = '::1' as Ip;
const OTHER = '127.0.0.9' as Ip;
/** On a link without a neighbour. */
const MISSING = '192.0.2.9' as Ip;

describe('probe and echo', () => {
  let namespace: NetworkNamespace;

  before(() => {
    namespace = NetworkNamespace.create();
    setLoopbackUp(namespace);
    withRoutes(namespace, route => {
      const bridge = route.addLink({ kind: 'bridge', name: 'br0' });
      route.setLink(bridge, { up: true });
      route.addAddress(bridge, { ip: '192.0.2.1' as Ip, prefix: 24 });
    });
  });
  after(() => namespace.close());

  /** Probes a server that calls `behave` with each connection, and counts the connections. */
  async function probeServer(
    behave: (connection: Socket, number: number) => void,
    options = {},
  ): Promise<ProbeResult & { readonly tries: number }> {
    let tries = 0;
    const server = await listenTcp(namespace, HERE, 80, connection => {
      connection.on('error', () => undefined);
      behave(connection, tries++);
    });
    const result = await probe(namespace, HERE, 80, 'TCP', options);
    await new Promise(resolve => server.close(resolve));
    return { ...result, tries };
  }

  for (const protocol of ['TCP', 'UDP'] as const) {
    test(`PLAY-1 an echo server answers with its address, its port and the caller's address, over ${protocol}`, async () => {
      for (const ip of [HERE, HERE6]) {
        const server = await EchoServer.start(namespace, ip, 53, protocol);
        const { answers, failures } = await probe(namespace, ip, 53, protocol, { tries: 3 });
        await server.close();
        assert.deepEqual([...answers], [[`${ip} 53 ${ip}`, 3]]);
        assert.equal(failures.size, 0);
      }
    });

    test(`PLAY-1 a closed echo server refuses, over ${protocol}`, async () => {
      await (await EchoServer.start(namespace, HERE, 53, protocol)).close();
      const { answers, failures } = await probe(namespace, HERE, 53, protocol);
      assert.equal(answers.size, 0);
      assert.deepEqual([...failures], ['refused']);
    });

    test(`PLAY-1 no answer is a timeout, over ${protocol}`, async () => {
      const { answers, failures } = await probe(namespace, MISSING, 80, protocol, { timeoutMs: 5 });
      assert.equal(answers.size, 0);
      assert.deepEqual([...failures], ['timeout']);
    });
  }

  test('PLAY-1 a probe connects from the given address', async () => {
    const server = await EchoServer.start(namespace, HERE, 80, 'TCP');
    const { answers } = await probe(namespace, HERE, 80, 'TCP', { tries: 1, source: OTHER });
    await server.close();
    assert.deepEqual([...answers.keys()], [`${HERE} 80 ${OTHER}`]);
  });

  test('PLAY-1 a probe ends after enough tries that show nothing new', async () => {
    const same = await probeServer(connection => connection.end('a'), { tries: 5 });
    assert.equal(same.tries, 5);
    const late = await probeServer((connection, number) => connection.end(number === 3 ? 'b' : 'a'), { tries: 5 });
    assert.equal(late.tries, 3 + 5);
    assert.deepEqual(
      [...late.answers],
      [
        ['a', 7],
        ['b', 1],
      ],
    );
  });

  test('PLAY-1 a probe ends after two failures without an answer', async () => {
    const result = await probeServer(connection => connection.end(), { tries: 5 });
    assert.equal(result.tries, 2);
    assert.deepEqual([...result.failures], ['empty']);
  });

  test('PLAY-1 failures are reported beside answers', async () => {
    const result = await probeServer((connection, number) => connection.end(number === 1 ? '' : 'a'), { tries: 4 });
    assert.equal(result.tries, 4);
    assert.deepEqual([...result.answers], [['a', 3]]);
    assert.deepEqual([...result.failures], ['empty']);
  });

  test('PLAY-1 a server that accepts and does not answer is a timeout', async () => {
    const open: Socket[] = [];
    const { failures } = await probeServer(
      connection => {
        open.push(connection);
        connection.resume();
      },
      { timeoutMs: 5 },
    );
    for (const connection of open) connection.destroy();
    assert.deepEqual([...failures], ['timeout']);
  });

  test('PLAY-1 a datagram without an answer is sent again, if the caller wants that', async () => {
    const server = bindUdp(namespace, HERE, 54);
    const callers = new Set<number>();
    server.on('message', (_, { port, address }) => {
      if (callers.has(port)) server.send('late', port, address);
      callers.add(port);
    });
    const once = await probe(namespace, HERE, 54, 'UDP', { tries: 1, timeoutMs: 50 });
    const again = await probe(namespace, HERE, 54, 'UDP', { tries: 1, timeoutMs: 20_000, resendMs: 20 });
    await new Promise<void>(resolve => server.close(() => resolve()));
    assert.deepEqual([[...once.failures], [...once.answers.keys()]], [['timeout'], []]);
    assert.deepEqual([[...again.failures], [...again.answers.keys()]], [[], ['late']]);
  });

  test('PLAY-1 other errors are reported by name', async () => {
    const rules = 'table inet t { chain c { type filter hook output priority 0; udp dport 99 reject; }; }';
    assert.equal(
      namespace.run(() => spawnSync('nft', [rules]).status),
      0,
    );
    const { failures } = await probe(namespace, HERE, 99, 'UDP');
    assert.deepEqual([...failures], ['EPERM']);
  });

  test('PLAY-1 an echo server that cannot start rejects with the reason', async () => {
    await assert.rejects(EchoServer.start(namespace, MISSING, 80, 'TCP'), { errno: 'EADDRNOTAVAIL' });
    await assert.rejects(EchoServer.start(namespace, MISSING, 80, 'UDP'), { errno: 'EADDRNOTAVAIL' });
  });
});
