import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { LOOPBACK, withLocalhostNode } from '../../../test/support/localhost-node.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ModeHarness, modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { generation, nft } from '../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket } from '../../kernel/nftables/index.ts';
import { listenTcp } from '../../kernel/sockets/index.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { type KernelReading, ReadBudget } from '../read-back.ts';
import { kernelLookups, type TableLookups } from './kernel-state/table-lookups.ts';
import { NftablesMode, type NftablesOptions } from './mode.ts';
import { readBackNftables } from './read-back.ts';
import { layoutOf } from './table/layout.ts';
import { RenderContext } from './table/shared-chains.ts';

const TABLE = ['ip', 'kube-proxy'] as const;
const PODS = [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2', '10.244.2.3'];
const SPEC = {
  clusterIP: '10.96.0.10',
  type: 'LoadBalancer',
  ports: [{ port: 80, nodePort: 30_080 }],
  ingress: [{ ip: '203.0.113.1' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
} as const;

interface Lab {
  readonly namespace: NetworkNamespace;
  readonly harness: ModeHarness<NftablesMode>;
  nft(...args: string[]): void;
  read(): Promise<KernelReading>;
}

/** No time passes for the mode, so it repairs nothing. */
async function withWeb(
  overrides: Parameters<typeof service>[1],
  work: (lab: Lab) => Promise<void>,
  options: NftablesOptions = {},
  settings: ConstructorParameters<typeof ModeHarness>[1] = {},
): Promise<void> {
  await withNamespace(async namespace => {
    const clock = new ManualClock();
    const harness = new ModeHarness(events => new NftablesMode({ namespace, events, clock, ...options }), settings);
    try {
      harness.set(service('web', { ...SPEC, ...overrides }), slice('web-1', PODS));
      await harness.sync();
      const [plan = assert.fail()] = harness.plans();
      await work({
        namespace,
        harness,
        nft: (...args) => void nft(namespace, ...args),
        read: () => harness.mode.readBack('IPv4', plan),
      });
    } finally {
      await harness.close();
    }
  });
}

function ruleHandle(namespace: NetworkNamespace, chain: string, pattern: RegExp): string {
  const line = nft(namespace, '-a', 'list', 'chain', ...TABLE, chain)
    .split('\n')
    .find(text => pattern.test(text));
  return /handle (\d+)$/.exec(line ?? '')?.[1] ?? assert.fail(`no rule like ${pattern} in ${chain}`);
}

/** What another program does, and what the reading says then. */
const DAMAGES: readonly (readonly [damage: string, (lab: Lab) => void, says: readonly string[]])[] = [
  ['nothing', () => {}, []],
  [
    'deletes an element',
    lab => lab.nft('delete', 'element', ...TABLE, 'service-numbers', '{ 10.96.0.10 . tcp . 80 }'),
    ['missing element in map ip kube-proxy service-numbers: 10.96.0.10 . tcp . 80 comment "default/web" : 0x10003000'],
  ],
  [
    'changes an endpoint',
    lab => {
      lab.nft('delete', 'element', ...TABLE, 'cluster-endpoints', '{ 10.96.0.10 . tcp . 80 . 1 }');
      lab.nft('add', 'element', ...TABLE, 'cluster-endpoints', '{ 10.96.0.10 . tcp . 80 . 1 : 10.9.9.9 . 99 }');
    },
    [
      'different element in map ip kube-proxy cluster-endpoints: ' +
        '10.96.0.10 . tcp . 80 . 0x00000001 : 10.9.9.9 . 99 instead of ' +
        '10.96.0.10 . tcp . 80 . 0x00000001 : 10.244.2.2 . 8080',
    ],
  ],
  [
    'adds two slots',
    lab => {
      lab.nft('add', 'element', ...TABLE, 'cluster-endpoints', '{ 10.96.0.10 . tcp . 80 . 3 : 10.9.9.9 . 99 }');
      lab.nft('add', 'element', ...TABLE, 'cluster-endpoints', '{ 10.96.0.10 . tcp . 80 . 4 : 10.9.9.9 . 98 }');
    },
    [
      'unexpected element in map ip kube-proxy cluster-endpoints: 10.96.0.10 . tcp . 80 . 0x00000003 : 10.9.9.9 . 99',
      'unexpected element in map ip kube-proxy cluster-endpoints: 10.96.0.10 . tcp . 80 . 0x00000004 : 10.9.9.9 . 98',
    ],
  ],
  [
    'lets another map drop the frontend',
    lab => lab.nft('add', 'element', ...TABLE, 'no-endpoint-services', '{ 10.96.0.10 . tcp . 80 : drop }'),
    ['unexpected element in map ip kube-proxy no-endpoint-services: 10.96.0.10 . tcp . 80 : drop'],
  ],
  [
    'lets another map drop the node port',
    lab => lab.nft('add', 'element', ...TABLE, 'no-endpoint-nodeports', '{ tcp . 30080 : drop }'),
    ['unexpected element in map ip kube-proxy no-endpoint-nodeports: tcp . 30080 : drop'],
  ],
  [
    'deletes a shared element',
    lab => lab.nft('delete', 'element', ...TABLE, 'cluster-ips', '{ 10.96.0.10 }'),
    ['missing element in set ip kube-proxy cluster-ips: 10.96.0.10'],
  ],
  [
    'deletes a rule of the program',
    lab =>
      lab.nft('delete', 'rule', ...TABLE, 'services', 'handle', ruleHandle(lab.namespace, 'services', /@service-ips/)),
    ['missing rule in chain ip kube-proxy services: ip daddr . meta l4proto . th dport vmap @service-ips'],
  ],
  [
    'inserts a rule',
    lab => lab.nft('insert', 'rule', ...TABLE, 'services', 'ip', 'daddr', '10.96.0.10', 'drop'),
    ['unexpected rule in chain ip kube-proxy services: ip daddr 10.96.0.10 drop'],
  ],
  [
    'changes the firewall of the service port',
    lab => {
      const chain = /chain (firewall-\S+web\S*)/.exec(nft(lab.namespace, 'list', 'table', ...TABLE))?.[1] ?? '';
      const handle = ruleHandle(lab.namespace, chain, /198\.51\.100/);
      lab.nft('replace', 'rule', ...TABLE, chain, 'handle', handle, 'ip', 'saddr', '198.51.101.0/24', 'return');
    },
    [
      'different rule in chain ip kube-proxy firewall-PFISGYVC-default/web/tcp/: ' +
        'ip saddr 198.51.101.0/24 return instead of ip saddr 198.51.100.0/24 return',
    ],
  ],
  [
    'deletes a base chain',
    lab => {
      lab.nft('flush', 'chain', ...TABLE, 'nat-output');
      lab.nft('delete', 'chain', ...TABLE, 'nat-output');
    },
    [
      'missing chain in table ip kube-proxy: ' +
        'chain nat-output { type nat hook output priority -100; policy accept; }',
    ],
  ],
  [
    'changes the policy of a base chain',
    lab => lab.nft('chain', ...TABLE, 'filter-forward', '{ policy drop ; }'),
    [
      'different chain in table ip kube-proxy: ' +
        'chain filter-forward { type filter hook forward priority filter; policy drop; } instead of ' +
        'chain filter-forward { type filter hook forward priority filter; policy accept; }',
    ],
  ],
  [
    'makes the table dormant',
    lab => lab.nft('add', 'table', ...TABLE, '{ flags dormant ; }'),
    ['different table in ruleset: table ip kube-proxy { flags dormant; } instead of table ip kube-proxy'],
  ],
  ['deletes the table', lab => lab.nft('delete', 'table', ...TABLE), ['missing table in ruleset: table ip kube-proxy']],
];

describe('a reading in nftables mode', () => {
  for (const [damage, work, says] of DAMAGES) {
    test(`READ-2 READ-6 names exactly what differs after another program ${damage}`, () =>
      withWeb({}, async lab => {
        work(lab);
        const before = generation(lab.namespace);
        const { entries, incomplete } = await lab.read();
        assert.deepEqual(differences(entries), says);
        assert.equal(incomplete, undefined);
        assert.equal(generation(lab.namespace), before, 'a reading changes nothing');
      }));
  }

  test('READ-6 prints chains, rules and elements as nft lists them', () =>
    withWeb({}, async lab => {
      const { entries } = await lab.read();
      const listing = nft(lab.namespace, 'list', 'table', ...TABLE).replaceAll(/\s+/g, ' ');
      for (const { kind, wanted = '' } of entries) {
        const isListed = listing.includes(wanted.replace(/ \}$/, '').replace(/( comment ".*")? : /, '$1 : '));
        assert.ok(isListed, `${kind} ${wanted}`);
      }
      assert.ok(entries.length > 40);
    }));

  test('READ-7 names the clients that affinity leads to an endpoint, and they are no difference', () =>
    withWeb({ sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 600 }, async lab => {
      const [, set = ''] =
        /set (affinity-\S+10\.244\.2\.2\S+)/.exec(nft(lab.namespace, 'list', 'table', ...TABLE)) ?? [];
      lab.nft('add', 'element', ...TABLE, set, '{ 192.0.2.1, 192.0.2.2 timeout 30s }');
      const { entries, affinity, incomplete } = await lab.read();
      assert.deepEqual(differences(entries), []);
      assert.equal(incomplete, undefined);
      assert.deepEqual(affinity.map(({ client, endpoint }) => `${client} ${endpoint}`).sort(), [
        '192.0.2.1 10.244.2.2:8080',
        '192.0.2.2 10.244.2.2:8080',
      ]);
      const left = affinity.map(({ secondsLeft = 0 }) => secondsLeft).sort((a, b) => a - b);
      assert.ok(left[0] !== undefined && left[0] > 0 && left[0] <= 30);
      assert.ok(left[1] !== undefined && left[1] > 30 && left[1] <= 600);
    }));

  test('READ-7 reads a thousand pinned clients at most, and says so', () =>
    withWeb({ sessionAffinity: 'ClientIP' }, async lab => {
      const sets = [...nft(lab.namespace, 'list', 'table', ...TABLE).matchAll(/set (affinity-\S+)/g)].map(
        ([, set]) => set,
      );
      const clients = Array.from({ length: 700 }, (_, i) => `192.0.${i >> 8}.${i & 255}`).join(', ');
      for (const set of sets) lab.nft('add', 'element', ...TABLE, set ?? '', `{ ${clients} }`);
      const { affinity, incomplete } = await lab.read();
      assert.equal(affinity.length, 1000);
      assert.equal(incomplete, 'the mode read only 1000 pinned clients');
    }));

  test('READ-6 shows the counters of frontends, and the elements for node ports at loopback', () =>
    withWeb(
      { loadBalancerSourceRanges: [] },
      async lab => {
        const { entries } = await lab.read();
        assert.deepEqual(differences(entries), []);
        const counted = entries.filter(({ counted }) => counted !== undefined);
        assert.deepEqual(
          counted.map(({ place, wanted }) => `${place} ${wanted?.replace(/ comment.*/, '')}`),
          [
            'set ip kube-proxy service-connections 10.96.0.10 . tcp . 80',
            'set ip kube-proxy service-rejects 10.96.0.10 . tcp . 80',
            'set ip kube-proxy service-connections 203.0.113.1 . tcp . 80',
            'set ip kube-proxy service-rejects 203.0.113.1 . tcp . 80',
            'set ip kube-proxy nodeport-connections tcp . 30080',
            'set ip kube-proxy nodeport-rejects tcp . 30080',
            'set ip kube-proxy localhost-rejected-packets tcp',
            'set ip kube-proxy localhost-rejected-packets udp',
            'set ip kube-proxy localhost-rejected-packets sctp',
          ],
        );
        assert.ok(entries.some(({ place }) => place === 'map ip kube-proxy localhost-rejects'));
        lab.nft('delete', 'element', ...TABLE, 'localhost-rejects', '{ tcp . 30080 }');
        assert.match(
          differences((await lab.read()).entries).join('\n'),
          /^missing element in map \S+ \S+ localhost-rejects: /,
        );
      },
      { countConnections: true, localhostNodePorts: true },
    ));

  test('READ-6 names an address of node ports that is missing', () => {
    const nodePortAddresses = parseNodePortAddresses('IPv4', ['192.168.0.0/24']);
    const settings = { nodePortAddresses, nodePortIPs: ['192.168.0.2' as Ip] };
    return withWeb(
      {},
      async lab => {
        assert.deepEqual(differences((await lab.read()).entries), []);
        lab.nft('delete', 'element', ...TABLE, 'nodeport-ips', '{ 192.168.0.2 }');
        assert.deepEqual(differences((await lab.read()).entries), [
          'missing element in set ip kube-proxy nodeport-ips: 192.168.0.2',
        ]);
      },
      {},
      { settings },
    );
  });
});

/** Counts the requests to the kernel. A listing counts one for each object that the kernel sends. */
function counting(lookups: TableLookups): { readonly lookups: TableLookups; readonly requests: () => number } {
  let requests = 0;
  const one = <A extends unknown[], R>(get: (...args: A) => R) => {
    return (...args: A): R => {
      const result = get(...args);
      requests += Array.isArray(result) ? result.length + 1 : 1;
      return result;
    };
  };
  return {
    lookups: {
      table: one(lookups.table),
      chain: one(lookups.chain),
      rules: one(lookups.rules),
      set: one(lookups.set),
      element: one(lookups.element),
      elements: one(lookups.elements),
    },
    requests: () => requests,
  };
}

/** Reads the service port `web` with lookups and a budget of the test. */
async function readWeb({ namespace, harness }: Lab, budget?: ReadBudget) {
  const socket = NftablesSocket.open({ namespace });
  try {
    const plan = harness.plans().find(({ service }) => service === 'default/web') ?? assert.fail();
    const layout = layoutOf('IPv4');
    const options = modeSettingsFor('IPv4');
    const { lookups, requests } = counting(kernelLookups(socket, layout));
    const context = new RenderContext(layout, options);
    const reading = await readBackNftables({ context, options, lookups, plan, ...(budget && { budget }) });
    assert.deepEqual(differences(reading.entries), []);
    return { ...reading, requests: requests() };
  } finally {
    socket.close();
  }
}

test('READ-5 the number of netlink messages of a reading does not depend on the number of Services', () =>
  withWeb({}, async lab => {
    const { harness } = lab;
    const alone = await readWeb(lab);
    for (let i = 0; i < 2000; i++) {
      const clusterIP = `10.97.${i >> 8}.${i & 255}`;
      harness.set(service(`s${i}`, { clusterIP }), slice(`s${i}-1`, ['10.244.3.1', '10.244.3.2']));
    }
    await harness.sync();
    assert.equal((await readWeb(lab)).requests, alone.requests);
    assert.ok(alone.requests < 150, `${alone.requests} messages`);
  }));

test('READ-4 a reading of a service port with very many endpoints stops at its limit, and says so', () =>
  withWeb({}, async lab => {
    const { harness } = lab;
    const pods = Array.from({ length: 500 }, (_, i) => `10.245.${i >> 8}.${i & 255}`);
    harness.set(slice('web-1', pods));
    await harness.sync();
    const { entries, requests, incomplete } = await readWeb(lab, new ReadBudget(300, 60_000));
    assert.deepEqual([entries.length, requests], [301, 301], 'the limit, and the table');
    assert.equal(incomplete, 'the mode read only the first 300 objects');
  }));

test('READ-6 shows the listener of a node port at loopback, and that it could not be opened', () =>
  withLocalhostNode(async node => {
    const mode = node.start('IPv4', LOOPBACK, { clock: new ManualClock() });
    const nodePort = (name: string, port: number) => {
      const spec = { type: 'NodePort', clusterIP: `10.96.0.${port - 30_000}`, ports: [{ nodePort: port }] } as const;
      return [service(name, spec), slice(`${name}-1`, ['10.244.1.2'])];
    };
    const other = await listenTcp(node.namespace, '127.0.0.1' as Ip, 30_002, () => {});
    node.onClose(() => other.close());
    mode.set(...nodePort('free', 30_001), ...nodePort('taken', 30_002));
    await mode.sync();
    const readings = await Promise.all(mode.plans().map(plan => mode.mode.readBack('IPv4', plan)));
    assert.deepEqual(
      readings.flatMap(({ entries }) => entries.filter(({ kind }) => kind === 'listener')),
      [
        { kind: 'listener', place: 'this process', wanted: 'TCP 127.0.0.1:30001', found: 'TCP 127.0.0.1:30001' },
        { kind: 'listener', place: 'this process', wanted: 'TCP 127.0.0.1:30002', found: undefined },
      ],
    );
    assert.deepEqual(
      readings.flatMap(({ entries }) => differences(entries)),
      ['missing listener in this process: TCP 127.0.0.1:30002'],
    );
  }));

test('READ-4 a sync beside a reading does not wait for it, and the reading is of one moment', () =>
  withWeb({}, async ({ harness, read }) => {
    const reading = read();
    harness.set(service('other', { clusterIP: '10.96.0.20' }), slice('other-1', ['10.244.2.9']));
    await harness.sync();
    const { entries, incomplete } = await reading;
    assert.deepEqual(differences(entries), []);
    assert.equal(incomplete, undefined);
  }));
