import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { addRules } from '../../test/support/machine.ts';
import { createNodeNamespace, withRoutes } from '../../test/support/namespaces.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { bindUdp, listenTcp } from '../kernel/sockets/index.ts';
import { type Ip, parseCidr } from '../net/index.ts';
import { type ProbedEndpoint, probe, probeAll } from './index.ts';

const NODE = '192.168.0.2' as Ip;
const endpoint = (ip: string, port = 8080, protocol: ProbedEndpoint['protocol'] = 'TCP'): ProbedEndpoint => ({
  protocol,
  ip: ip as Ip,
  port,
});

async function onNode(work: (node: NetworkNamespace) => Promise<void>): Promise<void> {
  const node = createNodeNamespace();
  try {
    await work(node);
  } finally {
    node.close();
  }
}

test('MACHINE-40 a TCP probe says whether the endpoint accepts, and why not', () =>
  onNode(async node => {
    const server = await listenTcp(node, NODE, 8080, connection => connection.destroy());
    addRules(node, 'table ip guard { chain out { type filter hook output priority 0; tcp dport 81 drop; } }');
    withRoutes(node, route => {
      for (const [text, type] of Object.entries({ '10.1.0.0/16': 'unreachable', '10.2.0.0/16': 'prohibit' } as const)) {
        const destination = parseCidr(text);
        if (destination) route.addRoute({ destination, type });
      }
      route.deleteRoute({ destination: parseCidr('0.0.0.0/0') ?? assert.fail() });
    });
    const of = async (target: ProbedEndpoint) => (await probe(target, { namespace: node, timeoutMs: 10_000 })).outcome;
    try {
      const connected = await probe(endpoint(NODE), { namespace: node, timeoutMs: 10_000 });
      assert.deepEqual([connected.outcome, connected.detail], ['connected', undefined]);
      assert.ok(connected.ms > 0 && connected.ms < 10_000);
      assert.equal(await of(endpoint(NODE, 82)), 'refused');
      assert.equal(await of(endpoint('10.1.0.1')), 'no route');
      assert.equal(await of(endpoint('10.2.0.1')), 'not permitted');
      assert.equal(await of(endpoint('10.3.0.1')), 'network unreachable');
      const late = await probe(endpoint(NODE, 81), { namespace: node, timeoutMs: 200 });
      assert.equal(late.outcome, 'timeout');
      assert.equal(await of(endpoint(NODE, 8080, 'SCTP')), 'unsupported');
    } finally {
      server.close();
      await once(server, 'close');
    }
  }));

test('MACHINE-41 a UDP probe finds only that an endpoint refuses, or that it answers', () =>
  onNode(async node => {
    const quiet = bindUdp(node, NODE, 53);
    const loud = bindUdp(node, NODE, 54);
    loud.on('message', (_, { port, address }) => loud.send('hello', port, address));
    try {
      const of = async (port: number, timeoutMs: number) =>
        (await probe(endpoint(NODE, port, 'UDP'), { namespace: node, timeoutMs })).outcome;
      assert.equal(await of(52, 10_000), 'refused');
      assert.equal(await of(53, 200), 'cannot tell');
      assert.equal(await of(54, 10_000), 'connected');
    } finally {
      quiet.close();
      loud.close();
    }
  }));

test('MACHINE-42 many probes keep their order and end with the time for all', () =>
  onNode(async node => {
    const server = await listenTcp(node, NODE, 8080, connection => connection.destroy());
    try {
      const targets = [endpoint(NODE), endpoint(NODE, 82), endpoint(NODE)];
      const results = await probeAll(targets, { namespace: node, concurrency: 2, totalMs: 60_000, timeoutMs: 20_000 });
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['connected', 'refused', 'connected'],
      );
      // Nobody has this address, so the kernel waits for it.
      const silent = Array.from({ length: 60 }, () => endpoint('192.168.0.77'));
      const late = await probeAll(silent, { namespace: node, concurrency: 2, totalMs: 300, timeoutMs: 250 });
      assert.deepEqual(new Set(late.map(({ outcome }) => outcome)), new Set(['timeout', 'not probed']));
    } finally {
      server.close();
      await once(server, 'close');
    }
  }));
