import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { ModeHarness } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { TestSocket } from '../../../test/support/test-socket.ts';
import type { Ip } from '../../net/index.ts';
import { NftablesMode } from '../nftables/mode.ts';
import { entryState } from '../read-back.ts';
import { decodeTarget, flagNames } from './programs/index.ts';

const PODS = ['10.244.1.2', '10.244.1.3', '10.244.1.4'];
const VIP = '10.96.0.10';

function web(algorithm: string, more: Record<string, string> = {}, spec: Parameters<typeof service>[1] = {}) {
  const annotations = { 'pointsman.dev/balance': algorithm, ...more };
  return service('web', { clusterIP: VIP, annotations, ...spec });
}

/** How many of these connections each of the pods takes. */
function counts(lab: EbpfLab, connections: number): readonly number[] {
  const answers = Array.from({ length: connections }, () => lab.ask(VIP));
  return PODS.map(pod => answers.filter(answer => answer === pod).length);
}

describe('weights at sockets', () => {
  // With one degree of freedom, chance exceeds 25 once in 1.7 million runs: erfc(sqrt(25 / 2)).
  test('BALANCE-57 endpoints get connections by weight, and an endpoint of weight 0 gets none', () =>
    EbpfLab.with(async lab => {
      const weights = { 'pointsman.dev/weights': `${PODS[0]}=3,${PODS[2]}=0` };
      lab.harness.set(web('weighted', weights), slice('web-1', PODS));
      await lab.harness.sync();
      const [heavy = 0, light = 0, none] = counts(lab, 800);
      assert.equal(none, 0);
      assert.equal(heavy + light, 800);
      const chiSquare = (heavy - 600) ** 2 / 600 + (light - 200) ** 2 / 200;
      assert.ok(chiSquare < 25, `${heavy} to ${light}`);
      lab.harness.set(web('weighted', { 'pointsman.dev/weights': `${PODS[0]}=0,${PODS[2]}=0` }));
      await lab.harness.sync();
      assert.deepEqual(counts(lab, 20), [0, 20, 0]);
    }));

  test('BALANCE-57 with affinity each endpoint is a member once, and a client keeps its endpoint', () =>
    EbpfLab.with(async lab => {
      const weights = { 'pointsman.dev/weights': `${PODS[0]}=3` };
      lab.harness.set(web('weighted', weights, { sessionAffinity: 'ClientIP' }), slice('web-1', PODS.slice(0, 2)));
      await lab.harness.sync();
      const members = lab.harness.mode.maps?.get('members4')?.entries().keys;
      assert.equal(members?.length, 2 * 12);
      const first = lab.ask(VIP);
      assert.deepEqual(lab.answers(VIP), [first]);
      const [plan] = lab.harness.plans('IPv4');
      assert.ok(plan);
      const { entries } = await lab.harness.mode.readBack('IPv4', plan);
      assert.deepEqual(
        entries.filter(entry => entryState(entry) !== 'equal'),
        [],
      );
      const lines = (map: string) => entries.filter(({ place }) => place === `map ${map}`).length;
      assert.deepEqual([lines('slots4'), lines('members4')], [4, 2]);
      await lab.harness.mode.lookForDrift();
      assert.deepEqual(lab.lines, []);
    }));
});

test('BALANCE-58 packets have the turns and the hashes, and the sockets have the rest', () =>
  EbpfLab.with(
    async lab => {
      const { namespace } = lab.network;
      // Packets need a route before rules can lead them elsewhere.
      const script = [
        'link add out type veth peer name nowhere',
        'link set nowhere up',
        'link set out up',
        'addr add 192.168.9.1/24 dev out',
        'route add default dev out',
      ];
      runIn(namespace, 'ip', ['-batch', '-'], script.map(line => `${line}\n`).join(''));
      const network = new ModeHarness(events => new NftablesMode({ namespace, events }), { families: ['IPv4'] });
      const flows = () => runIn(namespace, 'conntrack', ['-L', '-d', VIP]).split('\n').filter(Boolean).length;
      try {
        for (const algorithm of ['round-robin', 'consistent-hash', 'random', 'least-connections']) {
          for (const harness of [lab.harness, network]) {
            harness.set(web(algorithm), slice('web-1', PODS));
            await harness.sync();
          }
          runIn(namespace, 'conntrack', ['-F']);
          const client = new TestSocket(namespace, 'IPv4');
          assert.equal(client.connect(VIP as Ip, 80), 'connected', algorithm);
          assert.ok(PODS.map(pod => `${pod}:8080`).includes(lab.network.takenBy()), algorithm);
          const isByPackets = algorithm === 'round-robin' || algorithm === 'consistent-hash';
          assert.equal(flows(), isByPackets ? 1 : 0, algorithm);
          client.close();
        }
      } finally {
        await network.close();
      }
    },
    { families: ['IPv4'] },
  ));

describe('BALANCE-57 least connections at sockets', () => {
  test('BALANCE-57 of at most 16 endpoints, the one with fewest connections gets the next one', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(web('least-connections'), slice('web-1', PODS));
      await lab.harness.sync();
      const taken: string[] = [];
      const held = Array.from({ length: 30 }, () => {
        const client = new TestSocket(lab.network.namespace, 'IPv4');
        assert.equal(client.connect(VIP as Ip, 80), 'connected');
        taken.push(lab.network.takenBy());
        const counts = PODS.map(pod => taken.filter(name => name === `${pod}:8080`).length);
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
        return client;
      });
      for (const client of held) client.close();
    }));

  test('BALANCE-57 when a Service gets 17 endpoints, its frontends compare two slots, and all again with 16', () =>
    EbpfLab.with(
      async lab => {
        const { harness } = lab;
        const flags = () => {
          const { values = Buffer.alloc(0) } = harness.mode.maps?.get('frontends4')?.entries() ?? {};
          return flagNames(decodeTarget(values).flags);
        };
        for (const count of [16, 17, 18, 16]) {
          const pods = Array.from({ length: count }, (_, i) => `10.244.1.${i + 2}`);
          harness.set(web('least-connections'), slice('web-1', pods));
          await harness.sync();
          assert.deepEqual(flags(), count > 16 ? ['leastConnections'] : ['leastConnections', 'compareAll']);
          const [plan] = harness.plans('IPv4');
          assert.ok(plan);
          const { entries } = await harness.mode.readBack('IPv4', plan);
          assert.ok(entries.every(entry => entryState(entry) === 'equal'));
          assert.ok(entries.some(({ found }) => found?.includes(`least connections of ${count > 16 ? 'two' : 'all'}`)));
          await harness.mode.lookForDrift();
          assert.deepEqual(lab.lines, []);
        }
      },
      { families: ['IPv4'] },
    ));
});
