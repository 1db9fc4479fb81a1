import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { IptablesHarness } from '../../../test/support/iptables-mode.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { writeSysctl } from '../../kernel/sysctl.ts';
import type { KernelReading } from '../read-back.ts';
import { chainsOf } from './names.ts';

const SPEC = {
  clusterIP: '10.96.0.10',
  type: 'LoadBalancer',
  ports: [{ port: 80, nodePort: 30_080 }],
  externalIPs: ['198.51.100.7'],
  ingress: [{ ip: '203.0.113.1' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
} as const;
const PODS = [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2'];

interface Lab {
  readonly backend: Backend;
  readonly harness: IptablesHarness;
  readonly namespace: NetworkNamespace;
  readonly chains: { readonly svc: string; readonly ext: string; readonly seps: readonly string[] };
  /** Runs iptables with these words. */
  iptables(line: string): void;
  save(): string;
  read(): Promise<KernelReading>;
}

/** No time passes for the mode, so it repairs nothing. */
async function withWeb(
  backend: Backend,
  overrides: Parameters<typeof service>[1],
  work: (lab: Lab) => Promise<void>,
): Promise<void> {
  await withNamespace(async namespace => {
    const harness = new IptablesHarness(namespace, { backend, clock: new ManualClock() });
    const program = backend === 'legacy' ? 'iptables-legacy' : 'iptables-nft';
    try {
      harness.set(service('web', { ...SPEC, ...overrides }), slice('web-1', PODS));
      harness.set(service('other', { clusterIP: '10.96.0.11', externalIPs: ['198.51.100.7'] }));
      harness.set(slice('other-1', ['10.244.2.9']));
      await harness.sync();
      const plan = harness.plans().find(({ service }) => service === 'default/web') ?? assert.fail();
      const { svc, ext, sep } = chainsOf(plan);
      await work({
        backend,
        harness,
        namespace,
        chains: { svc, ext, seps: plan.endpoints.cluster.map(sep) },
        iptables: line =>
          void runIn(
            namespace,
            program,
            line.split(' ').map(word => word.replaceAll('\u00a0', ' ')),
          ),
        save: () => runIn(namespace, `${program}-save`, []),
        read: () => harness.mode.readBack('IPv4', plan),
      });
    } finally {
      await harness.close();
    }
  });
}

type Damage = readonly [damage: string, (lab: Lab) => void, says: (lab: Lab) => readonly string[]];

/** What another program does, and what the reading says then. */
const DAMAGES: readonly Damage[] = [
  ['nothing', () => {}, () => []],
  [
    'deletes the rule of the cluster IP',
    ({ iptables, chains }) =>
      iptables(
        '-t nat -D KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment --comment default/web\u00a0cluster\u00a0IP ' +
          `-m tcp --dport 80 -j ${chains.svc}`,
      ),
    ({ chains }) => [
      'missing rule in chain nat KUBE-SERVICES: -A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment ' +
        `--comment "default/web cluster IP" -m tcp --dport 80 -j ${chains.svc}`,
    ],
  ],
  [
    'deletes the rule of an endpoint',
    ({ iptables, chains }) => iptables(`-t nat -D ${chains.svc} 2`),
    ({ chains }) => [
      `missing rule in chain nat ${chains.svc}: -A ${chains.svc} -m comment --comment "default/web -> 10.244.1.2:8080" ` +
        `-m statistic --mode random --probability 0.50000000000 -j ${chains.seps[0]}`,
    ],
  ],
  [
    'changes an endpoint',
    ({ iptables, chains }) =>
      iptables(`-t nat -R ${chains.seps[1]} 2 -p tcp -m tcp -j DNAT --to-destination 10.9.9.9:99`),
    ({ chains: { seps } }) => [
      `different rule in chain nat ${seps[1]}: -A ${seps[1]} -p tcp -m tcp -j DNAT --to-destination 10.9.9.9:99 ` +
        `instead of -A ${seps[1]} -p tcp -m comment --comment "default/web" -m tcp -j DNAT --to-destination 10.244.2.2:8080`,
    ],
  ],
  [
    'inserts a rule into a chain of the service port',
    ({ iptables, chains }) => iptables(`-t nat -I ${chains.ext} 1 -s 192.0.2.0/24 -j RETURN`),
    ({ chains: { ext } }) => [`unexpected rule in chain nat ${ext}: -A ${ext} -s 192.0.2.0/24 -j RETURN`],
  ],
  [
    'drops packets to the cluster IP in a shared chain',
    ({ iptables }) => iptables('-I KUBE-SERVICES -d 10.96.0.10/32 -j DROP'),
    () => ['unexpected rule in chain filter KUBE-SERVICES: -A KUBE-SERVICES -d 10.96.0.10/32 -j DROP'],
  ],
  [
    'drops packets to the node port in a shared chain',
    ({ iptables }) => iptables('-I KUBE-EXTERNAL-SERVICES -p tcp -m tcp --dport 30080 -j DROP'),
    () => [
      'unexpected rule in chain filter KUBE-EXTERNAL-SERVICES: ' +
        '-A KUBE-EXTERNAL-SERVICES -p tcp -m tcp --dport 30080 -j DROP',
    ],
  ],
  [
    'drops packets to other frontends',
    ({ iptables }) => {
      iptables('-I KUBE-SERVICES -d 10.96.0.12/32 -j DROP');
      iptables('-I KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 81 -j DROP');
      iptables('-I KUBE-SERVICES -d 10.96.0.10/32 -p udp -m udp --dport 80 -j DROP');
      iptables('-I INPUT -d 10.96.0.12/32 -j DROP');
    },
    () => [],
  ],
  [
    'deletes a jump',
    ({ iptables }) =>
      iptables('-t nat -D PREROUTING -m comment --comment kubernetes\u00a0service\u00a0portals -j KUBE-SERVICES'),
    () => [
      'missing rule in chain nat PREROUTING: ' +
        '-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
    ],
  ],
  [
    'deletes a chain',
    ({ iptables }) => {
      iptables('-D FORWARD -m comment --comment kubernetes\u00a0forwarding\u00a0rules -j KUBE-FORWARD');
      iptables('-F KUBE-FORWARD');
      iptables('-X KUBE-FORWARD');
    },
    () => [
      'missing rule in chain filter FORWARD: ' +
        '-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
      'missing chain in table filter: -N KUBE-FORWARD',
    ],
  ],
  [
    'deletes the rule that protects loopback, and adds one as the kubelet does',
    ({ iptables }) => {
      iptables('-F KUBE-FIREWALL');
      iptables('-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP');
    },
    () => [
      'missing rule in chain filter KUBE-FIREWALL: -A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment ' +
        '--comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
    ],
  ],
  [
    'forbids routes from loopback',
    ({ namespace }) => writeSysctl('net/ipv4/conf/all/route_localnet', 0, namespace),
    () => [
      'different sysctl in sysctl: net.ipv4.conf.all.route_localnet = 0 instead of net.ipv4.conf.all.route_localnet = 1',
    ],
  ],
];

for (const backend of ['legacy', 'nf_tables'] as const) {
  describe(`a reading in iptables mode, backend ${backend}`, () => {
    for (const [damage, work, says] of DAMAGES) {
      test(`READ-2 READ-8 names exactly what differs after another program ${damage}`, () =>
        withWeb(backend, {}, async lab => {
          work(lab);
          const before = lab.save();
          const { entries, incomplete } = await lab.read();
          assert.deepEqual(differences(entries), says(lab));
          assert.equal(incomplete, undefined);
          assert.equal(withoutComments(lab.save()), withoutComments(before), 'a reading changes nothing');
        }));
    }

    test('READ-8 rules of another Service at the same external address are not unexpected', () =>
      withWeb(backend, {}, async ({ harness }) => {
        const plans = harness.plans();
        assert.equal(plans.flatMap(({ conflicts }) => conflicts).length, 1);
        for (const plan of plans) {
          assert.deepEqual(differences((await harness.mode.readBack('IPv4', plan)).entries), [], plan.service);
        }
      }));

    test('READ-7 names the clients that affinity leads to an endpoint', () =>
      withWeb(backend, { sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 600 }, async lab => {
        const list = lab.chains.seps[1] ?? '';
        lab.namespace.run(() => writeFileSync(`/proc/thread-self/net/xt_recent/${list}`, '+192.0.2.7'));
        const { entries, affinity } = await lab.read();
        assert.deepEqual(differences(entries), []);
        assert.deepEqual(
          affinity.map(({ client, endpoint }) => ({ client, endpoint })),
          [{ client: '192.0.2.7', endpoint: '10.244.2.2:8080' }],
        );
        const [{ secondsLeft } = { secondsLeft: undefined }] = affinity;
        assert.ok(secondsLeft !== undefined && secondsLeft > 500 && secondsLeft <= 600, `${secondsLeft} seconds`);
      }));
  });
}

test('READ-2 READ-8 a missing table is named, and the reading does not create it', () =>
  withWeb('nf_tables', {}, async ({ namespace, read }) => {
    runIn(namespace, 'nft', ['delete', 'table', 'ip', 'nat']);
    const { entries } = await read();
    assert.deepEqual(differences(entries), ['missing table in iptables-nft: table nat']);
    assert.doesNotMatch(runIn(namespace, 'nft', ['list', 'tables']), /nat/);
  }));

function withoutComments(text: string): string {
  return text.replaceAll(/^#.*$/gm, '').replaceAll(/\[\d+:\d+\]/g, '');
}
