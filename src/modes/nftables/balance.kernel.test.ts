import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BalancedNetwork } from '../../../test/support/balanced-network.ts';
import { BALANCED, type BalancedService, balancedService } from '../../../test/support/balanced-service.ts';
import { NftablesHarness } from '../../../test/support/nftables-mode.ts';
import { ANNOTATION_HASH_BY, ANNOTATION_WEIGHTS } from '../../api/index.ts';
import { FAMILIES, type Family, joinHostPort } from '../../net/index.ts';

// Real connections in a network namespace of its own. Client, node and endpoints are addresses of its loopback.

interface Lab {
  readonly network: BalancedNetwork;
  /** Changes the Service. */
  set(options: BalancedService): Promise<void>;
}

async function withLab(
  family: Family,
  options: BalancedService & { readonly clients?: number },
  work: (lab: Lab) => Promise<void> | void,
): Promise<void> {
  const { pods = BALANCED[family].pods.slice(0, 3), clients } = options;
  const network = new BalancedNetwork(family, BALANCED[family].pods.slice(0, pods.length), clients);
  const harness = new NftablesHarness(network.namespace, family, { localDetector: undefined });
  const set = async (changed: BalancedService) => {
    harness.set(...balancedService(family, changed));
    await harness.sync();
  };
  try {
    await set(options);
    if (options.protocol !== 'UDP') network.waitForService();
    await work({ network, set });
  } finally {
    await harness.close();
    network.close();
  }
}

function count(answers: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return counts;
}

const repeat = <T>(times: number, work: (i: number) => T): readonly T[] =>
  Array.from({ length: times }, (_, i) => work(i));
const PLACES = ['cluster-ip', 'node-port'] as const;

for (const family of FAMILIES) {
  const pods = BALANCED[family].pods;
  const name = (i: number) => joinHostPort(pods[i] ?? '', 8080);

  describe(`nftables mode balances ${family} connections`, { concurrency: 3 }, () => {
    for (const algorithm of ['round-robin', 'least-connections'] as const) {
      test(`BALANCE-32 ${algorithm} gives each endpoint exactly every third connection, at all frontends together`, () =>
        withLab(family, { algorithm }, ({ network }) => {
          const answers = repeat(60, i => network.ask(PLACES[i % 2] ?? 'cluster-ip'));
          const first = answers.slice(0, 3);
          assert.deepEqual(first.toSorted(), [name(0), name(1), name(2)]);
          assert.deepEqual(
            answers,
            repeat(60, i => first[i % 3]),
          );
        }));
    }

    for (const place of PLACES) {
      test(`BALANCE-37 weights 5, 3 and 1 decide the parts of connections at the ${place}`, () => {
        const weights = `${pods[0]}=5,${pods[1]}=3,${pods[2]}=1`;
        const options = { algorithm: 'weighted', annotations: { [ANNOTATION_WEIGHTS]: weights } } as const;
        return withLab(family, options, ({ network }) => {
          const total = 900;
          const counts = count(repeat(total, () => network.ask(place)));
          const chiSquare = [5, 3, 1].reduce((sum, weight, i) => {
            const expected = (total * weight) / 9;
            return sum + ((counts.get(name(i)) ?? 0) - expected) ** 2 / expected;
          }, 0);
          // With two degrees of freedom, chance exceeds x with a probability of exp(-x / 2): here 4e-8.
          assert.ok(chiSquare < 34, `${chiSquare}: ${JSON.stringify([...counts])}`);
        });
      });
    }

    test('BALANCE-33 a client gets the same endpoint each time and everywhere, and clients share all endpoints', () =>
      withLab(family, { algorithm: 'consistent-hash', clients: 40 }, ({ network }) => {
        const answers = network.clients.map(ip => {
          const all = PLACES.flatMap(place => repeat(2, () => network.ask(place, { ip })));
          assert.equal(new Set(all).size, 1, `${ip}: ${all}`);
          return all[0] ?? '';
        });
        // The hash has a fixed seed, so no chance is involved.
        assert.deepEqual([...count(answers).keys()].toSorted(), [name(0), name(1), name(2)]);
      }));

    test('BALANCE-38 at most 2 in 5 flows move when one of five endpoints goes, and all come back with it', () => {
      const options = {
        algorithm: 'consistent-hash',
        annotations: { [ANNOTATION_HASH_BY]: 'client-address-and-port' },
      } as const;
      const five = pods.slice(0, 5);
      return withLab(family, { ...options, pods: five }, async ({ network, set }) => {
        const [ip = assert.fail()] = network.clients;
        const ask = () => repeat(300, i => network.ask('cluster-ip', { ip, port: 20_000 + i }));
        const before = ask();
        await set({ ...options, pods: five.filter(pod => pod !== five[2]) });
        const during = ask();
        assert.ok(before.includes(name(2)) && !during.includes(name(2)));
        const moved = during.filter((answer, i) => answer !== before[i]).length;
        assert.ok(moved <= 300 * (2 / 5), `${moved} of 300 flows moved`);
        await set({ ...options, pods: five });
        assert.deepEqual(ask(), before);
      });
    });
  });
}

test('BALANCE-32 datagrams of new clients take turns', () => {
  const pods = BALANCED.IPv4.pods.slice(0, 3);
  return withLab('IPv4', { algorithm: 'round-robin', protocol: 'UDP' }, ({ network }) => {
    network.listenForDatagrams(pods);
    const answers = repeat(30, () => network.askWithDatagram('cluster-ip'));
    assert.deepEqual(
      [...count(answers)].toSorted(),
      pods.map(ip => [joinHostPort(ip, 8080), 10]),
    );
  });
});

test('BALANCE-34 session affinity keeps the endpoint of a client, and new clients take turns', () =>
  withLab('IPv4', { algorithm: 'round-robin', spec: { sessionAffinity: 'ClientIP' }, clients: 30 }, ({ network }) => {
    // `waitForService` has let each client connect once.
    const answers = network.clients.map(ip => network.ask('cluster-ip', { ip }));
    assert.deepEqual([...count(answers).values()], [10, 10, 10]);
    assert.deepEqual(
      network.clients.map(ip => network.ask('node-port', { ip })),
      answers,
    );
  }));

test('BALANCE-35 a new connection succeeds after each change of the number of slots', () =>
  withLab('IPv4', { algorithm: 'round-robin' }, async ({ network, set }) => {
    const answers: string[] = [];
    for (let i = 0; i < 40; i++) {
      await set({ algorithm: 'round-robin', pods: BALANCED.IPv4.pods.slice(0, 2 + (i % 2)) });
      answers.push(network.ask('cluster-ip'));
    }
    assert.deepEqual(
      answers.filter(answer => !answer.endsWith(':8080')),
      [],
    );
  }));
