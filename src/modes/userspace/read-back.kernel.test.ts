import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { type UserspaceHarness, withUserspace } from '../../../test/support/userspace-mode.ts';
import { EchoServer, probe } from '../../demo/playground/index.ts';
import type { Ip } from '../../net/index.ts';
import type { KernelReading } from '../read-back.ts';

const POD = '10.244.1.1' as Ip;

interface Lab {
  readonly harness: UserspaceHarness;
  /** The port of the proxy. */
  readonly port: number;
  /** Runs iptables with these words. */
  iptables(line: string): void;
  read(): Promise<KernelReading>;
}

/** No time passes for the mode, so it repairs nothing. */
function withWeb(overrides: Parameters<typeof service>[1], work: (lab: Lab) => Promise<void>): Promise<void> {
  return withUserspace(
    async (harness, namespace) => {
      harness.set(service('web', { type: 'NodePort', ports: [{ nodePort: 30_080 }], ...overrides }));
      harness.set(slice('web-1', [POD]));
      await harness.sync();
      const [plan = assert.fail()] = harness.plans();
      await work({
        harness,
        port: harness.proxyPort('-A KUBE-PORTALS-HOST', '10.96.0.1'),
        iptables: line => void runIn(namespace, 'iptables', line.split(' ')),
        read: () => harness.mode.readBack('IPv4', plan),
      });
    },
    { clock: new ManualClock() },
  );
}

type Damage = readonly [damage: string, (lab: Lab) => void, says: (lab: Lab) => readonly string[]];

const DAMAGES: readonly Damage[] = [
  ['nothing', () => {}, () => []],
  [
    'deletes the portal of the node itself',
    ({ iptables }) => iptables('-t nat -D KUBE-PORTALS-HOST 1'),
    ({ port }) => [
      'missing rule in chain nat KUBE-PORTALS-HOST: -A KUBE-PORTALS-HOST -d 10.96.0.1/32 -p tcp -m comment ' +
        `--comment "default/web" -m tcp --dport 80 -j DNAT --to-destination 192.168.0.2:${port}`,
    ],
  ],
  [
    'leads the portal to another port',
    ({ iptables }) =>
      iptables(
        '-t nat -R KUBE-PORTALS-CONTAINER 1 -d 10.96.0.1/32 -p tcp -m comment --comment default/web ' +
          '-m tcp --dport 80 -j REDIRECT --to-ports 9',
      ),
    ({ port }) => [
      'different rule in chain nat KUBE-PORTALS-CONTAINER: -A KUBE-PORTALS-CONTAINER -d 10.96.0.1/32 -p tcp ' +
        '-m comment --comment "default/web" -m tcp --dport 80 -j REDIRECT --to-ports 9 instead of ' +
        '-A KUBE-PORTALS-CONTAINER -d 10.96.0.1/32 -p tcp -m comment --comment "default/web" -m tcp --dport 80 ' +
        `-j REDIRECT --to-ports ${port}`,
    ],
  ],
  [
    'drops packets to the cluster IP and to others',
    ({ iptables }) => {
      iptables('-I KUBE-PORTALS-FILTER -d 10.96.0.1/32 -j DROP');
      iptables('-I KUBE-PORTALS-FILTER -d 10.96.0.9/32 -j DROP');
    },
    () => ['unexpected rule in chain filter KUBE-PORTALS-FILTER: -A KUBE-PORTALS-FILTER -d 10.96.0.1/32 -j DROP'],
  ],
  [
    'deletes the chain of node ports',
    ({ iptables }) => {
      iptables('-t nat -D OUTPUT 2');
      iptables('-t nat -F KUBE-NODEPORT-HOST');
      iptables('-t nat -X KUBE-NODEPORT-HOST');
    },
    () => [
      'missing rule in chain nat OUTPUT: -A OUTPUT -m addrtype --dst-type LOCAL -m comment --comment ' +
        '"handle service NodePorts; NOTE: this must be the last rule in the chain" -j KUBE-NODEPORT-HOST',
      'missing chain in table nat: -N KUBE-NODEPORT-HOST',
    ],
  ],
];

describe('a reading in userspace mode', () => {
  for (const [damage, work, says] of DAMAGES) {
    test(`READ-2 READ-10 names exactly what differs after another program ${damage}`, () =>
      withWeb({}, async lab => {
        work(lab);
        const { entries, incomplete } = await lab.read();
        assert.deepEqual(differences(entries), says(lab));
        assert.equal(incomplete, undefined);
      }));
  }

  test('READ-10 shows the listeners of the process', () =>
    withWeb({}, async ({ port, read }) => {
      const { entries } = await read();
      const text = `TCP 0.0.0.0:${port}`;
      assert.deepEqual(
        entries.filter(({ kind }) => kind === 'listener'),
        [{ kind: 'listener', place: 'this process, for policy Cluster', wanted: text, found: text }],
      );
    }));

  test('READ-10 a listener that could not be opened is missing', () =>
    withUserspace(
      async harness => {
        harness.set(service('a', { clusterIP: '10.96.0.1' }), slice('a-1', [POD]));
        harness.set(service('b', { clusterIP: '10.96.0.2' }), slice('b-1', [POD]));
        await harness.sync();
        const [, plan = assert.fail()] = harness.plans();
        const { entries } = await harness.mode.readBack('IPv4', plan);
        assert.ok(
          differences(entries).includes('missing listener in this process, for policy Cluster: TCP 0.0.0.0, any port'),
        );
      },
      { clock: new ManualClock(), portRange: { first: 40_000, last: 40_000 } },
    ));

  test('READ-7 names the clients that affinity leads to an endpoint', () =>
    withWeb({ sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 600 }, async ({ harness, read }) => {
      assert.deepEqual((await read()).affinity, []);
      const server = await EchoServer.start(harness.namespace, POD, 8080, 'TCP');
      try {
        await probe(harness.namespace, '10.96.0.1' as Ip, 80, 'TCP', { tries: 1, timeoutMs: 5000 });
        const { affinity, entries } = await read();
        assert.deepEqual(affinity, [{ client: '192.168.0.2', endpoint: '10.244.1.1:8080', secondsLeft: 600 }]);
        assert.deepEqual(differences(entries), []);
      } finally {
        await server.close();
      }
    }));
});
