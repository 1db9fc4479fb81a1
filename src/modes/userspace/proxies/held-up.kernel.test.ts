import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { ip, outcome, serveDns, serveWeb, VIP, withServer } from '../../../../test/support/userspace-faults.ts';
import { withUserspace } from '../../../../test/support/userspace-mode.ts';
import { bindUdp } from '../../../kernel/sockets/index.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';

describe('a process that does not run for a while', () => {
  const wait = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  test('USER-13 the process keeps a connection that the kernel made meanwhile', () => {
    // While the kernel connects to an endpoint, the process is held up for longer than the timeout of the attempt.
    const clock: Clock = {
      ...systemClock,
      setTimer(ms, fn) {
        const timer = systemClock.setTimer(ms === 250 ? 1 : ms, fn);
        if (ms === 250) wait(20);
        return timer;
      },
    };
    return withUserspace(
      async (harness, namespace) => {
        await serveWeb(harness, '10.244.1.1');
        const greet = (connection: Socket) => connection.end('!');
        await withServer(namespace, greet, async () => {
          for (let i = 0; i < 5; i++) assert.equal(await outcome(namespace), 'end');
          assert.equal(harness.mode.counters()[0]?.dialFailures, 0);
        });
      },
      { clock },
    );
  });

  test('USER-15 the process returns an answer that arrived meanwhile before it forgets the client', () =>
    withUserspace(
      async (harness, namespace) => {
        await serveDns(harness);
        // A server in another process. It prints when a datagram arrives, and then answers.
        const server = namespace.run(() => spawn(process.execPath, ['-e', SLOW_UDP_ECHO]));
        const client = bindUdp(namespace, ip('192.168.0.2'), 0);
        try {
          await once(server.stdout, 'data');
          const answer = once(client, 'message', { signal: AbortSignal.timeout(5000) });
          client.send('mine', 53, VIP);
          await once(server.stdout, 'data');
          wait(800);
          assert.equal(String((await answer)[0]), 'mine');
        } finally {
          client.close();
          server.kill();
          await once(server, 'exit');
        }
      },
      { udpIdleTimeoutMs: 500 },
    ));
});

const SLOW_UDP_ECHO = `
const socket = require('node:dgram').createSocket('udp4');
socket.on('message', (message, { port, address }) => {
  console.log('asked');
  setTimeout(() => socket.send(message, port, address), 100);
});
socket.bind(5353, '10.244.1.1', () => console.log('ready'));
`;
