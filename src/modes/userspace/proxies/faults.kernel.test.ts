import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { runIn } from '../../../../test/support/run-in.ts';
import {
  connect,
  ending,
  ip,
  outcome,
  serveDns,
  serveWeb,
  VIP,
  withServer,
} from '../../../../test/support/userspace-faults.ts';
import { withUserspace } from '../../../../test/support/userspace-mode.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { bindUdp } from '../../../kernel/sockets/index.ts';

describe('TCP', () => {
  test('USER-7 the end of one direction is passed on, and the other direction goes on', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      const onConnection = (connection: Socket) => {
        connection.allowHalfOpen = true;
        let got = '';
        connection.on('data', bytes => {
          got += bytes;
        });
        connection.on('end', () => setTimeout(() => connection.end(`got ${got}`), 20));
      };
      await withServer(namespace, onConnection, async () => {
        const client = await connect(namespace);
        client.end('request');
        const answer: Buffer[] = [];
        client.on('data', bytes => answer.push(bytes));
        await once(client, 'end');
        assert.equal(String(Buffer.concat(answer)), 'got request');
        await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
          timeoutMs: 1000,
        });
      });
    }));

  test('USER-7 bytes arrive as they were sent, in both directions at once and in pieces of any size', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      await withServer(
        namespace,
        connection => connection.pipe(connection),
        async () => {
          const client = await connect(namespace);
          const sent = Buffer.alloc(8 << 20);
          for (let i = 0; i < sent.length; i += 4) sent.writeUInt32LE(i, i);
          const got: Buffer[] = [];
          client.on('data', bytes => got.push(bytes));
          for (let at = 0; at < sent.length; ) {
            const size = 1 + ((at * 7919) % 300_000);
            client.write(sent.subarray(at, at + size));
            at += size;
          }
          client.end();
          await once(client, 'end');
          assert.ok(Buffer.concat(got).equals(sent));
        },
      );
    }));

  test('USER-7 if the endpoint or the client breaks off, the other side breaks too', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      const accepted: Socket[] = [];
      await withServer(
        namespace,
        connection => accepted.push(connection),
        async () => {
          const client = await connect(namespace);
          await waitFor('the endpoint accepts the connection', () => accepted.length === 1, { timeoutMs: 1000 });
          accepted[0]?.resetAndDestroy();
          assert.equal(await ending(client), 'ECONNRESET');
          const other = await connect(namespace);
          await waitFor('the endpoint accepts the connection', () => accepted.length === 2, { timeoutMs: 1000 });
          const [, second] = accepted;
          assert.ok(second);
          const ended = ending(second);
          other.resetAndDestroy();
          assert.equal(await ended, 'ECONNRESET');
          await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
            timeoutMs: 1000,
          });
        },
      );
    }));

  test('USER-7 a client that goes away leaves no connection', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      const accepted: Socket[] = [];
      await withServer(
        namespace,
        connection => accepted.push(connection.resume()),
        async () => {
          const client = await connect(namespace);
          await waitFor('the endpoint accepts the connection', () => accepted.length === 1, { timeoutMs: 1000 });
          client.destroy();
          await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
            timeoutMs: 1000,
          });
        },
      );
    }));

  test('USER-13 if all endpoints refuse, the Service refuses, and reports that once', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1', '10.244.1.2', '10.244.1.3');
      for (let i = 0; i < 20; i++) assert.equal(await outcome(namespace), 'ECONNRESET');
      assert.equal(harness.events.lines.length, 1);
      assert.match(
        harness.events.lines[0] ?? '',
        /^failed to proxy a connection to default\/web: Error: 10\.244\.1\.\d:8080: ECONNREFUSED/,
      );
      const [counters] = harness.mode.counters();
      assert.equal(counters?.failures, 20);
      assert.equal(counters?.dialFailures, 60);
      assert.equal(harness.mode.tcpConnections, 0);
    }));

  test('USER-13 after 250 ms without an answer another endpoint is tried', () =>
    withUserspace(async (harness, namespace) => {
      runIn(namespace, 'iptables', ['-A', 'OUTPUT', '-d', '10.244.1.2', '-p', 'tcp', '--dport', '8080', '-j', 'DROP']);
      await serveWeb(harness, '10.244.1.1', '10.244.1.2');
      await withServer(
        namespace,
        connection => connection.end('!'),
        async () => {
          for (let i = 0; i < 6; i++) {
            const start = performance.now();
            assert.equal(await ending(await connect(namespace)), 'end');
            assert.ok(performance.now() - start < 1000);
          }
          assert.equal(harness.mode.counters()[0]?.dialFailures, 2, 'then the endpoint is avoided');
        },
      );
    }));

  test('USER-7 a client that gives up before an endpoint answers leaves no connection', () =>
    withUserspace(async (harness, namespace) => {
      runIn(namespace, 'iptables', ['-A', 'OUTPUT', '-d', '10.244.1.2', '-p', 'tcp', '--dport', '8080', '-j', 'DROP']);
      await serveWeb(harness, '10.244.1.2');
      const client = await connect(namespace);
      await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 1, {
        timeoutMs: 1000,
      });
      client.resetAndDestroy();
      await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
        timeoutMs: 200,
      });
    }));

  test('USER-7 a slow reader slows its writer down, and the proxy holds few bytes', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      let sent = 0;
      const flood = (connection: Socket) => {
        const chunk = Buffer.alloc(1 << 20);
        const more = () => {
          while (!connection.destroyed && connection.write(chunk)) sent += chunk.length;
          sent += chunk.length;
        };
        connection.on('drain', more);
        more();
      };
      await withServer(namespace, flood, async () => {
        const clients = await Promise.all(Array.from({ length: 20 }, () => connect(namespace)));
        for (const client of clients) client.pause();
        let before = -1;
        for (let i = 0; i < 50 && sent !== before; i++) {
          before = sent;
          await delay(100);
        }
        assert.equal(sent, before, 'the writers stop');
        assert.ok(harness.mode.heldBytes <= 20 * (128 << 10), `${harness.mode.heldBytes} bytes are held`);
        for (const client of clients) client.resume();
        await waitFor('the connection goes on', () => sent > before + (20 << 20), { timeoutMs: 5000 });
        for (const client of clients) client.destroy();
      });
      await waitFor('no bytes wait', () => harness.mode.heldBytes === 0, { timeoutMs: 1000 });
    }));

  test('USER-7 a slow writer does not slow other connections down', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      await withServer(
        namespace,
        connection => connection.pipe(connection),
        async () => {
          const slow = await connect(namespace);
          const got: string[] = [];
          slow.on('data', bytes => got.push(String(bytes)));
          for (let i = 0; i < 5; i++) {
            slow.write(String(i));
            await delay(10);
            const quick = await connect(namespace);
            quick.end('quick');
            assert.equal(String((await once(quick, 'data'))[0]), 'quick');
          }
          await waitFor('the answer arrives', () => got.join('') === '01234', { timeoutMs: 1000 });
          slow.destroy();
        },
      );
    }));

  test('USER-7 keep-alive probes check both ends', () =>
    withUserspace(
      async (harness, namespace) => {
        await serveWeb(harness, '10.244.1.1');
        await withServer(
          namespace,
          () => {},
          async () => {
            const client = await connect(namespace);
            await waitFor('the client is counted', () => harness.mode.counters()[0]?.active === 1, { timeoutMs: 1000 });
            const timers = runIn(namespace, 'ss', ['-tnoH']).match(/timer:\(keepalive,[67]/g);
            assert.equal(timers?.length, 2);
            client.destroy();
          },
        );
      },
      { keepAliveSeconds: 7 },
    ));

  test('USER-18 a connection outlives its Service and its endpoint in the plan, and new ones go to other endpoints', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      await withServer(
        namespace,
        connection => connection.pipe(connection),
        async () => {
          const client = await connect(namespace);
          const say = async (word: string) => {
            client.write(word);
            assert.equal(String((await once(client, 'data'))[0]), word);
          };
          await say('one');
          await serveWeb(harness, '10.244.1.2');
          await say('two');
          assert.equal(await outcome(namespace), 'ECONNRESET', 'no server is at the other endpoint');
          harness.deleteService('default/web');
          await harness.sync();
          await say('three');
          assert.equal(harness.mode.tcpConnections, 1);
          client.destroy();
          await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
            timeoutMs: 1000,
          });
        },
      );
    }));

  test('USER-20 a close lets connections end for a while, then resets them', async () => {
    for (const drainMs of [2000, 100]) {
      await withUserspace(
        async (harness, namespace) => {
          await serveWeb(harness, '10.244.1.1');
          await withServer(
            namespace,
            connection => connection.pipe(connection),
            async () => {
              const client = await connect(namespace);
              client.write('before');
              await once(client, 'data');
              const closing = harness.close();
              if (drainMs > 1000) {
                await delay(100);
                client.end('after');
                assert.equal(String((await once(client, 'data'))[0]), 'after');
                const start = performance.now();
                await closing;
                assert.ok(performance.now() - start < 1000, 'the close ends with the last connection');
              } else {
                assert.equal(await ending(client), 'ECONNRESET');
                await closing;
              }
            },
          );
        },
        { drainMs },
      );
    }
  });
});

describe('UDP', () => {
  test('USER-15 a flood from many sources is limited, and another client still gets answers', () =>
    withUserspace(
      async (harness, namespace) => {
        await serveDns(harness);
        const server = bindUdp(namespace, ip('10.244.1.1'), 5353);
        server.on('message', (message, { port, address }) => server.send(message, port, address));
        const flooders = Array.from({ length: 300 }, () => bindUdp(namespace, ip('192.168.0.2'), 0));
        const client = bindUdp(namespace, ip('192.168.0.2'), 0);
        try {
          const before = readdirSync('/proc/self/fd').length;
          let most = 0;
          for (let round = 0; round < 5; round++) {
            for (const flooder of flooders) flooder.send('flood', 53, VIP);
            await delay(5);
            most = Math.max(most, harness.mode.udpClients);
          }
          assert.equal(most, 50);
          assert.ok(readdirSync('/proc/self/fd').length <= before + 50);
          const answers: string[] = [];
          client.on('message', message => answers.push(String(message)));
          // Some datagrams are lost in the flood.
          for (let i = 0; i < 50 && answers.length === 0; i++) {
            client.send('mine', 53, VIP);
            await delay(10);
          }
          assert.equal(answers[0], 'mine');
          assert.ok((harness.mode.counters()[0]?.connections ?? 0) > 300);
          await waitFor('the mode forgets the UDP clients', () => harness.mode.udpClients === 0, { timeoutMs: 2000 });
          assert.equal(harness.mode.counters()[0]?.active, 0);
        } finally {
          for (const socket of [...flooders, client, server]) socket.close();
        }
      },
      { maxUdpClients: 50 },
    ));
});
