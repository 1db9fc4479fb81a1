import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { IpvsHarness } from '../../../test/support/ipvs-mode.ts';
import { createNodeNamespace } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { Cluster } from '../../demo/playground/index.ts';
import { connectTcp, listenTcp } from '../../kernel/sockets/index.ts';
import { writeSysctl } from '../../kernel/sysctl.ts';
import type { Ip } from '../../net/index.ts';
import type { KernelReading } from '../read-back.ts';

const SPEC = {
  clusterIP: '10.96.0.10',
  type: 'LoadBalancer',
  ports: [{ port: 80, nodePort: 30_080 }],
  ingress: [{ ip: '203.0.113.1' }],
} as const;
const PODS = [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2'];

interface Lab {
  readonly harness: IpvsHarness;
  /** Runs a program in the namespace of the node. */
  run(line: string): void;
  read(): Promise<KernelReading>;
}

/** No time passes for the mode, so it repairs nothing. */
async function withWeb(overrides: Parameters<typeof service>[1], work: (lab: Lab) => Promise<void>): Promise<void> {
  const namespace = createNodeNamespace();
  const harness = new IpvsHarness(namespace);
  try {
    harness.set(service('web', { ...SPEC, ...overrides }), slice('web-1', PODS));
    await harness.sync();
    await work({
      harness,
      run: line => {
        const [program = '', ...args] = line.split(' ');
        runIn(namespace, program, args);
      },
      read: () => {
        const [plan = assert.fail()] = harness.plans();
        return harness.mode.readBack('IPv4', plan);
      },
    });
  } finally {
    await harness.close();
    namespace.close();
  }
}

type Damage = readonly [damage: string, (lab: Lab) => void, says: readonly string[]];

const DAMAGES: readonly Damage[] = [
  ['nothing', () => {}, []],
  [
    'deletes a virtual server',
    ({ run }) => run('ipvsadm -D -t 10.96.0.10:80'),
    ['missing virtual server in ipvs: -A -t 10.96.0.10:80 -s rr'],
  ],
  [
    'changes the scheduler',
    ({ run }) => run('ipvsadm -E -t 10.96.0.10:80 -s lc'),
    ['different virtual server in ipvs: -A -t 10.96.0.10:80 -s lc instead of -A -t 10.96.0.10:80 -s rr'],
  ],
  [
    'adds a real server',
    ({ run }) => run('ipvsadm -a -t 10.96.0.10:80 -r 10.9.9.9:99 -m'),
    ['unexpected real server in ipvs: -a -t 10.96.0.10:80 -r 10.9.9.9:99 -m -w 1'],
  ],
  [
    'changes a weight and deletes a real server',
    ({ run }) => {
      run('ipvsadm -e -t 10.96.0.10:80 -r 10.244.1.2:8080 -m -w 7');
      run('ipvsadm -d -t 10.96.0.10:80 -r 10.244.2.2:8080');
    },
    [
      'different real server in ipvs: -a -t 10.96.0.10:80 -r 10.244.1.2:8080 -m -w 7 instead of ' +
        '-a -t 10.96.0.10:80 -r 10.244.1.2:8080 -m -w 1',
      'missing real server in ipvs: -a -t 10.96.0.10:80 -r 10.244.2.2:8080 -m -w 1',
    ],
  ],
  [
    'deletes an entry of a set, and adds one where it does not belong',
    ({ run }) => {
      run('ipset del KUBE-CLUSTER-IP 10.96.0.10,tcp:80');
      run('ipset add KUBE-EXTERNAL-IP 10.96.0.10,tcp:80');
    },
    [
      'missing set entry in set KUBE-CLUSTER-IP: add KUBE-CLUSTER-IP 10.96.0.10,tcp:80',
      'unexpected set entry in set KUBE-EXTERNAL-IP: add KUBE-EXTERNAL-IP 10.96.0.10,tcp:80',
    ],
  ],
  [
    'deletes an address',
    ({ run }) => run('ip addr del 10.96.0.10/32 dev kube-ipvs0'),
    ['missing address in dev kube-ipvs0: inet 10.96.0.10/32'],
  ],
  ['deletes the link', ({ run }) => run('ip link del kube-ipvs0'), ['missing link in ip link: kube-ipvs0']],
  [
    'changes rules',
    ({ run }) => {
      run('iptables -t nat -D KUBE-NODE-PORT 1');
      run('iptables -I KUBE-FORWARD -s 192.0.2.1 -j DROP');
      run('iptables -t nat -D POSTROUTING 1');
    },
    [
      'missing rule in chain nat POSTROUTING: ' +
        '-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
      'missing rule in chain nat KUBE-NODE-PORT: -A KUBE-NODE-PORT -p tcp -m comment --comment ' +
        '"Kubernetes nodeport TCP port for masquerade purpose" -m set --match-set KUBE-NODE-PORT-TCP dst -j KUBE-MARK-MASQ',
      'unexpected rule in chain filter KUBE-FORWARD: -A KUBE-FORWARD -s 192.0.2.1/32 -j DROP',
    ],
  ],
  [
    'changes a sysctl',
    ({ harness }) => writeSysctl('net/ipv4/vs/conntrack', 0, harness.namespace),
    ['different sysctl in sysctl: net.ipv4.vs.conntrack = 0 instead of net.ipv4.vs.conntrack = 1'],
  ],
];

describe('a reading in ipvs mode', () => {
  for (const [damage, work, says] of DAMAGES) {
    test(`READ-2 READ-9 names exactly what differs after another program ${damage}`, () =>
      withWeb({}, async lab => {
        work(lab);
        const { entries, incomplete } = await lab.read();
        assert.deepEqual(differences(entries), says);
        assert.equal(incomplete, undefined);
      }));
  }

  test('READ-9 a real server that leaves with weight 0 is no difference', () =>
    withWeb({}, async ({ harness, run, read }) => {
      harness.set(slice('web-1', PODS.slice(0, 1)));
      await harness.sync();
      run('ipvsadm -a -t 10.96.0.10:80 -r 10.244.2.2:8080 -m -w 0');
      assert.deepEqual(differences((await read()).entries), []);
    }));

  test('READ-7 without a client nothing is pinned, and the list of connections can be read', () =>
    withWeb({ sessionAffinity: 'ClientIP' }, async ({ read }) => {
      const { affinity, entries, incomplete } = await read();
      assert.deepEqual([affinity, differences(entries), incomplete], [[], [], undefined]);
    }));
});

test('READ-7 READ-9 names a client that is pinned, and a real server that leaves is no difference', async () => {
  const cluster = Cluster.create();
  const [pod, client] = (['10.244.1.2', '10.244.1.200'] as Ip[]).map(ip => cluster.addPod(ip));
  assert.ok(pod && client);
  const harness = new IpvsHarness(cluster.node);
  const server = await listenTcp(pod, '10.244.1.2' as Ip, 8080, connection => connection.on('error', () => {}));
  const read = () => {
    const [plan = assert.fail()] = harness.plans();
    return harness.mode.readBack('IPv4', plan);
  };
  try {
    const spec = { clusterIP: '10.96.0.1', sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 600 } as const;
    harness.set(service('web', spec), slice('web-1', ['10.244.1.2']));
    await harness.sync();
    const connection = await connectTcp(client, '10.96.0.1' as Ip, 80);
    try {
      const { affinity, entries } = await read();
      assert.deepEqual(
        affinity.map(({ client: ip, endpoint }) => `${ip} ${endpoint}`),
        ['10.244.1.200 10.244.1.2:8080'],
      );
      assert.ok((affinity[0]?.secondsLeft ?? 0) > 500, `${affinity[0]?.secondsLeft} seconds`);
      assert.deepEqual(differences(entries), []);
      // The kernel updates the number every two seconds.
      assert.equal(typeof entries.find(({ kind }) => kind === 'virtual server')?.counted, 'number');
      harness.set(slice('web-1', ['10.244.1.3']));
      await harness.sync();
      const left = (await read()).entries;
      assert.deepEqual(differences(left), []);
      assert.ok(left.some(({ found }) => found === '-a -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 0'));
    } finally {
      connection.destroy();
    }
  } finally {
    server.close();
    await harness.close();
    cluster.close();
  }
});
