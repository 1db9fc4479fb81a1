import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { IptablesHarness } from '../../../test/support/iptables-mode.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { createNodeNamespace, loopbackOf, withRoutes } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { countPicks, picksInTurn } from '../../../test/support/picked-endpoints.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { listenTcp } from '../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import { previewIptables } from './preview.ts';

const ADDRESSES = {
  IPv4: { service: '10.96.0.10', any: '0.0.0.0', endpoints: ['10.244.1.1', '10.244.1.2', '10.244.1.3'] },
  IPv6: { service: 'fd00:10:96::10', any: '::', endpoints: ['fd00:10:244::1', 'fd00:10:244::2', 'fd00:10:244::3'] },
} as const;

interface Lab {
  readonly harness: IptablesHarness;
  readonly clock: ManualClock;
  readonly namespace: NetworkNamespace;
  readonly endpoints: readonly [string, string, string];
  /** Gives the Service these annotations, and syncs. */
  annotate(annotations: Record<string, string>): Promise<void>;
  /** The endpoints that serve these connections, in order. */
  inTurn(times: number): Promise<readonly string[]>;
  /** How many connections each endpoint serves. */
  count(times: number): Promise<readonly number[]>;
}

/** A Service with three endpoints, all of them at the node, which calls it too. */
async function withLab(backend: Backend, family: Family, work: (lab: Lab) => Promise<void>): Promise<void> {
  const { service: clusterIP, any, endpoints } = ADDRESSES[family];
  const namespace = createNodeNamespace();
  const clock = new ManualClock();
  const harness = new IptablesHarness(namespace, { backend, family, clock });
  withRoutes(namespace, route => {
    const prefix = family === 'IPv4' ? 32 : 128;
    for (const ip of endpoints) route.addAddress(loopbackOf(route), { ip: ip as Ip, prefix, nodad: true });
  });
  const server = await listenTcp(namespace, any as Ip, 8080, connection => {
    connection.on('error', () => undefined);
    connection.end(`${connection.localAddress}`);
  });
  try {
    harness.set(slice('web-1', endpoints));
    await work({
      harness,
      clock,
      namespace,
      endpoints,
      annotate: async annotations => {
        harness.set(service('web', { clusterIP, annotations }));
        await harness.sync();
      },
      inTurn: times => picksInTurn(namespace, clusterIP as Ip, 80, times),
      count: async times => {
        const counts = await countPicks(namespace, clusterIP as Ip, 80, times);
        return endpoints.map(ip => counts.get(ip) ?? 0);
      },
    });
  } finally {
    server.close();
    await harness.close();
    namespace.close();
  }
}

const PERIOD_MS = 30_000;
const ROUND_ROBIN = { 'pointsman.dev/balance': 'round-robin' };
const weighted = (weights: string) => ({ 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': weights });

const noticesOfTurns = ({ events }: IptablesHarness) =>
  events.lines.filter(line => line.startsWith('notice: iptables-legacy forgets at every write whose turn it is'));

for (const backend of ['nf_tables', 'legacy'] as const) {
  describe(`balance with ${backend}`, () => {
    for (const family of ['IPv4', 'IPv6'] as const) {
      test(`BALANCE-40 BALANCE-41 connections follow the weights (${family})`, () =>
        withLab(backend, family, async ({ annotate, count, namespace, endpoints: [a, b, c] }) => {
          const program = `${family === 'IPv4' ? 'iptables' : 'ip6tables'}-${backend === 'legacy' ? 'legacy' : 'nft'}`;
          const rules = () => runIn(namespace, program, ['-w', '-t', 'nat', '-S']).split('\n').sort();
          await annotate({});
          const before = rules();
          await annotate(weighted(`${a}=1,${b}=3,${c}=0`));
          const [ofA = 0, ofB = 0, ofC] = await count(400);
          assert.deepEqual([ofA + ofB, ofC], [400, 0]);
          // A quarter of 400 has the standard deviation 8.7. Six of them are missed twice in a billion runs.
          assert.ok(Math.abs(ofA - 100) <= 52, `${ofA}`);
          await annotate({});
          assert.deepEqual(rules(), before);
        }));
    }

    test('BALANCE-43 readings and previews know the rules, and find one that another program changed', () =>
      withLab(backend, 'IPv4', async ({ annotate, harness, namespace, endpoints: [a, b] }) => {
        const program = backend === 'legacy' ? 'iptables-legacy' : 'iptables-nft';
        const input = { family: 'IPv4', against: 'kernel', namespace, programs: { backend } } as const;
        const settings = modeSettingsFor('IPv4');
        const read = async () => {
          const plans = harness.plans();
          const reading = await harness.mode.readBack('IPv4', plans[0] ?? assert.fail());
          const preview = await previewIptables({}, { ...input, settings, plans });
          return [differences(reading?.entries ?? assert.fail()), preview] as const;
        };
        for (const annotations of [ROUND_ROBIN, weighted(`${a}=2,${b}=7`)]) {
          await annotate(annotations);
          assert.deepEqual(await read(), [[], '']);
          const rules = runIn(namespace, `${program}-save`, ['-t', 'nat']).split('\n');
          const first = rules.find(rule => rule.includes('statistic')) ?? assert.fail();
          const [, chain = '', target = ''] = /^-A (\S+) .* -j (\S+)$/.exec(first) ?? [];
          runIn(namespace, program, ['-w', '-t', 'nat', '-R', chain, '2', '-j', target]);
          const [different, preview] = await read();
          assert.equal(different.length, 1, `${different}`);
          assert.match(preview, new RegExp(`^:${chain} `, 'm'));
        }
      }));
  });
}

test('BALANCE-43 the mode misses no rule of an endpoint with weight 0, and repairs the rules of weights and turns', () =>
  withLab('nf_tables', 'IPv4', async ({ annotate, harness, clock, namespace, endpoints: [a, b, c] }) => {
    const repairs = () => harness.events.lines.filter(line => line.startsWith('repaired'));
    const iptables = (...args: string[]) => runIn(namespace, 'iptables-nft', ['-w', '-t', 'nat', ...args]);
    for (const [i, annotations] of [weighted(`${a}=2,${b}=7,${c}=0`), ROUND_ROBIN].entries()) {
      await annotate(annotations);
      await clock.advance(PERIOD_MS);
      await harness.mode.settle();
      assert.equal(repairs().length, i);
      const rules = iptables('-S').split('\n');
      const chain = /^-A (\S+) .*statistic/m.exec(rules.join('\n'))?.[1] ?? assert.fail();
      iptables('-D', chain, '2');
      await clock.advance(PERIOD_MS);
      await waitFor('the mode has repaired the rules', () => repairs().length === i + 1);
      assert.deepEqual(iptables('-S').split('\n').sort(), rules.sort());
    }
  }));

for (const family of ['IPv4', 'IPv6'] as const) {
  test(`BALANCE-42 with iptables-nft connections take exact turns, also when other Services change (${family})`, () =>
    withLab('nf_tables', family, async ({ annotate, harness, inTurn, endpoints }) => {
      await annotate(ROUND_ROBIN);
      const [a, b, c] = await inTurn(3);
      assert.ok(a && b && c);
      assert.deepEqual([a, b, c].sort(), [...endpoints].sort());
      assert.deepEqual(await inTurn(5), [a, b, c, a, b]);
      const clusterIP = family === 'IPv4' ? '10.96.0.11' : 'fd00:10:96::11';
      harness.set(service('other', { clusterIP }), slice('other-1', [a]));
      await harness.sync();
      assert.deepEqual(await inTurn(4), [c, a, b, c]);
      assert.deepEqual(noticesOfTurns(harness), []);
    }));

  test(`BALANCE-42 with iptables-nft the turns go on after a restart, if the endpoints are the same (${family})`, () =>
    withLab('nf_tables', family, async ({ annotate, harness, inTurn, endpoints }) => {
      await annotate(ROUND_ROBIN);
      const total = () => harness.events.measures.flatMap(it => (it.kind === 'rules' ? it.total : [])).at(-1);
      const before = total();
      const [a, b] = await inTurn(2);
      const c = endpoints.find(endpoint => endpoint !== a && endpoint !== b);
      assert.ok(a && b && c);
      assert.deepEqual(await harness.restart(), { full: true });
      assert.deepEqual(await inTurn(2), [c, a]);
      assert.equal(total(), before);
      harness.set(slice('web-1', [b, c]));
      harness.plans(family);
      await harness.restart();
      const [first, second] = await inTurn(2);
      assert.deepEqual([first, second].sort(), [b, c].sort());
      assert.deepEqual(await inTurn(1), [first]);
    }));
}

test('BALANCE-44 with iptables-legacy connections get random endpoints instead of turns, and the mode reports it once', () =>
  withLab('legacy', 'IPv4', async ({ annotate, harness, count }) => {
    await annotate(ROUND_ROBIN);
    harness.set(service('other', { clusterIP: '10.96.0.11', annotations: ROUND_ROBIN }));
    await harness.sync();
    assert.equal(noticesOfTurns(harness).length, 1);
    // A third of 300 has the standard deviation 8.2. Six of them are missed six times in a billion runs.
    for (const times of await count(300)) assert.ok(Math.abs(times - 100) <= 49, `${times}`);
  }));
