import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { service, slice } from '../../../../test/support/objects.ts';
import { type UserspaceHarness, withUserspace } from '../../../../test/support/userspace-mode.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { connectTcp, listenTcp } from '../../../kernel/sockets/index.ts';
import type { Ip } from '../../../net/index.ts';

const ENDPOINT = '10.244.1.1' as Ip;
const VIP = '10.96.0.1' as Ip;
const CONCURRENT = 1000;
const SHORT = 3000;
const SHORT_AT_ONCE = 50;
/** A connection that is still in memory takes at least this many bytes. */
const MIN_LEAK_BYTES = 1000;

async function withEcho(
  harness: UserspaceHarness,
  namespace: NetworkNamespace,
  work: () => Promise<void>,
): Promise<void> {
  harness.set(service('web'), slice('web-1', [ENDPOINT]));
  await harness.sync();
  const server = await listenTcp(namespace, ENDPOINT, 8080, connection => {
    connection.on('error', () => {});
    connection.pipe(connection);
  });
  await work();
  await new Promise(resolve => server.close(resolve));
}

/** Sends a word and returns the answer. */
function exchange(socket: Socket, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', bytes => resolve(String(bytes)));
    socket.once('error', reject);
    socket.write(word);
  });
}

/** The bytes of all objects that are still in use. */
async function usedMemory(): Promise<number> {
  const collect = globalThis.gc;
  assert.ok(collect, 'run with --expose-gc');
  for (let i = 0; i < 3; i++) {
    await new Promise(resolve => setImmediate(resolve));
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('USER-7 a thousand connections at once are all served', () =>
  withUserspace((harness, namespace) =>
    withEcho(harness, namespace, async () => {
      const sockets: Socket[] = [];
      for (let i = 0; i < CONCURRENT; i += 100) {
        sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => connectTcp(namespace, VIP, 80)))));
      }
      const words = sockets.map((_, i) => `word ${i}`);
      assert.deepEqual(await Promise.all(sockets.map((socket, i) => exchange(socket, words[i] ?? ''))), words);
      assert.equal(harness.mode.tcpConnections, CONCURRENT);
      for (const socket of sockets) socket.destroy();
      await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
        timeoutMs: 5000,
      });
      assert.equal(harness.mode.heldBytes, 0);
    }),
  ));

test('USER-7 thousands of short connections leave neither descriptors nor memory behind', () =>
  withUserspace((harness, namespace) =>
    withEcho(harness, namespace, async () => {
      const once = async (word: string) => {
        const socket = await connectTcp(namespace, VIP, 80);
        assert.equal(await exchange(socket, word), word);
        socket.destroy();
      };
      const many = async (count: number) => {
        for (let i = 0; i < count; i += SHORT_AT_ONCE) {
          await Promise.all(Array.from({ length: SHORT_AT_ONCE }, (_, j) => once(`word ${i + j}`)));
        }
        await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
          timeoutMs: 5000,
        });
      };
      await many(200);
      const descriptors = readdirSync('/proc/self/fd').length;
      const before = await usedMemory();
      await many(SHORT);
      await waitFor('all descriptors are closed', () => readdirSync('/proc/self/fd').length <= descriptors, {
        timeoutMs: 1000,
      });
      const grown = (await usedMemory()) - before;
      assert.ok(grown < SHORT * MIN_LEAK_BYTES, `${grown} bytes more are used`);
      const [counters] = harness.mode.counters();
      assert.equal(counters?.connections, SHORT + 200);
      assert.equal(counters?.failures, 0);
      assert.equal(counters?.active, 0);
    }),
  ));
