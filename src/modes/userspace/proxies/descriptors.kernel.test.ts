import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, outcome, serveWeb, withServer } from '../../../../test/support/userspace-faults.ts';
import { withUserspace } from '../../../../test/support/userspace-mode.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';

describe('descriptors', () => {
  test('USER-19 connections beyond the limit are refused and reported, and the others go on', () =>
    withUserspace(
      async (harness, namespace) => {
        await serveWeb(harness, '10.244.1.1');
        await withServer(
          namespace,
          connection => connection.pipe(connection),
          async () => {
            const clients = await Promise.all(Array.from({ length: 5 }, () => connect(namespace)));
            await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 5, {
              timeoutMs: 1000,
            });
            assert.equal(await outcome(namespace), 'ECONNRESET');
            assert.match(harness.events.lines.join(), /all 11 descriptors for proxying are in use; raise the limit/);
            clients[0]?.write('x');
            assert.equal(String((await once(clients[0] as Socket, 'data'))[0]), 'x');
            clients[1]?.destroy();
            await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 4, {
              timeoutMs: 1000,
            });
            const again = await connect(namespace);
            again.write('y');
            assert.equal(String((await once(again, 'data'))[0]), 'y');
            for (const client of [...clients, again]) client.destroy();
          },
        );
      },
      { maxDescriptors: 11 },
    ));

  test('USER-19 a process without a free descriptor refuses connections, reports that and goes on', () =>
    withUserspace(async (harness, namespace) => {
      await serveWeb(harness, '10.244.1.1');
      await withServer(
        namespace,
        connection => connection.end('!'),
        async () => {
          assert.equal(await outcome(namespace), 'end');
          await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
            timeoutMs: 1000,
          });
          const limit = descriptorLimit();
          const taken: number[] = [];
          const take = () => taken.push(openSync('/dev/null', 'r'));
          // Leaves room to start a program after all descriptors are closed again.
          limitDescriptors(Math.max(...readdirSync('/proc/self/fd').map(Number)) + 64);
          try {
            assert.throws(() => {
              for (;;) take();
            }, /EMFILE/);
            // The client needs one, and another one for a moment to enter the namespace.
            for (const fd of taken.splice(0, 2)) closeSync(fd);
            const client = outcome(namespace);
            take();
            assert.equal(await client, 'ECONNRESET');
            const failures = () => harness.mode.counters()[0]?.failures;
            assert.equal(failures(), 1);
            assert.throws(() => {
              for (;;) take();
            }, /EMFILE/);
            await delay(300);
            assert.equal(failures(), 1, 'no other connection was refused');
          } finally {
            for (const fd of taken) closeSync(fd);
            limitDescriptors(limit);
          }
          assert.match(
            harness.events.lines.join(),
            /no descriptor is left for a connection; raise the limit of open files/,
          );
          assert.equal(await outcome(namespace), 'end', 'it works again');
        },
      );
    }));
});

/** The soft limit of open files of this process. */
function descriptorLimit(): number {
  return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
}

function limitDescriptors(limit: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${limit}:`]);
  assert.equal(status, 0, String(stderr));
}
