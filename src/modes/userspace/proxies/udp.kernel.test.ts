import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { service, slice } from '../../../../test/support/objects.ts';
import { withUserspace } from '../../../../test/support/userspace-mode.ts';
import { bindUdp } from '../../../kernel/sockets/index.ts';
import type { Ip } from '../../../net/index.ts';

const ip = (text: string) => text as Ip;
const ROUNDS = 20;
const FLOODERS = 60;
/** A busy machine takes a while for an answer. One that is lost is not worth more than half a second. */
const ANSWER_WAITS = 100;

// 52 descriptors: 50 for clients, and one for the listener of each of the two Services.
for (const [what, limits] of [
  ['clients', { maxUdpClients: 50 }],
  ['descriptors', { maxDescriptors: 52 }],
] as const) {
  test(`USER-15 one Service with too many clients for the limit of ${what} does not starve another`, () =>
    withUserspace(async (harness, namespace) => {
      const ports = [{ name: '', protocol: 'UDP', port: 5353 }] as const;
      for (const [name, n] of [
        ['noisy', 1],
        ['dns', 2],
      ] as const) {
        harness.set(
          service(name, { clusterIP: `10.96.0.${n}`, ports: [{ protocol: 'UDP', port: 53 }] }),
          slice(`${name}-1`, [`10.244.1.${n}`], { ports }),
        );
      }
      await harness.sync();
      const servers = [1, 2].map(n => {
        const server = bindUdp(namespace, ip(`10.244.1.${n}`), 5353);
        return server.on('message', (message, { port, address }) => server.send(message, port, address));
      });
      const flooders = Array.from({ length: FLOODERS }, () => bindUdp(namespace, ip('192.168.0.2'), 0));
      const client = bindUdp(namespace, ip('192.168.0.2'), 0);
      try {
        let answers = 0;
        client.on('message', () => {
          answers += 1;
        });
        for (let round = 0; round < ROUNDS; round++) {
          for (const flooder of flooders) flooder.send('flood', 53, '10.96.0.1');
          await delay(5);
          const before = answers;
          client.send('mine', 53, '10.96.0.2');
          for (let waited = 0; answers === before && waited < ANSWER_WAITS; waited++) await delay(5);
        }
        assert.ok(harness.mode.udpClients <= 50);
        assert.ok(answers >= ROUNDS / 2, `${answers} of ${ROUNDS} were answered`);
        const failures = harness.mode.counters().map(counters => counters.failures);
        assert.deepEqual(failures, [0, 0]);
      } finally {
        for (const socket of [...servers, ...flooders, client]) socket.close();
      }
    }, limits));
}
