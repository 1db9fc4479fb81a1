import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfiguration } from '../src/config/index.ts';
import { NetworkNamespace, namespaceCookie } from '../src/kernel/netns.ts';
import { readSysctl } from '../src/kernel/sysctl.ts';
import { configuredMode, createMode, type ModeContext, modeNamed } from '../src/modes/index.ts';
import { FAMILIES } from '../src/net/index.ts';
import { testControlGroup } from './support/bpf-lab.ts';
import { ModeHarness } from './support/mode-harness.ts';
import { nft } from './support/nftables-mode.ts';
import { service, slice } from './support/objects.ts';
import { runIn } from './support/run-in.ts';

/** The modes that this kernel has. The ipvs mode needs a guest. */
const MODES = ['nftables', 'iptables', 'userspace'] as const;
type ModeName = (typeof MODES)[number] | 'ebpf';

/** What the kubelet writes when it starts. */
const KUBELET = `*mangle
:KUBE-IPTABLES-HINT - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
COMMIT
*filter
:KUBE-FIREWALL - [0:0]
-I OUTPUT -j KUBE-FIREWALL
-I INPUT -j KUBE-FIREWALL
-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
COMMIT
`;

interface Situation {
  readonly title: string;
  readonly localhostNodePorts: boolean;
  prepare?(namespace: NetworkNamespace): void;
  /** KUBE-FIREWALL and its rule stay when iptables mode ends, because `route_localnet` stays. */
  readonly firewallStays?: boolean;
}

const SITUATIONS: readonly Situation[] = [
  { title: 'without a kubelet', localhostNodePorts: false },
  {
    title: 'with a kubelet',
    localhostNodePorts: true,
    prepare: namespace => runIn(namespace, 'iptables-restore', ['--noflush'], KUBELET),
  },
  { title: 'with node ports at localhost', localhostNodePorts: true, firewallStays: true },
];

/** Runs one mode until it has written its rules and removed those of other modes, and ends it. */
async function runMode(namespace: NetworkNamespace, name: ModeName, localhostNodePorts: boolean): Promise<void> {
  const defaults = defaultConfiguration();
  const iptables = { ...defaults.iptables, localhostNodePorts };
  const configured = configuredMode({ ...defaults, mode: name, iptables }, { countConnections: false });
  const harness = new ModeHarness(
    events => createMode(configured, FAMILIES, { namespace, events, ...(name === 'ebpf' && scopeOf(namespace)) }),
    {
      families: FAMILIES,
    },
  );
  harness.setService(service('web', { clusterIP: '10.96.0.1', ports: [{ nodePort: 30000 }] }));
  harness.setEndpointSlice(slice('web-1', ['10.244.1.1']));
  try {
    await harness.sync();
  } finally {
    await harness.close();
  }
  assert.deepEqual(
    harness.events.lines.filter(line => !line.startsWith('notice: ')),
    [],
  );
}

/** ebpf mode serves no socket of the machine, only those of the namespace. */
function scopeOf(namespace: NetworkNamespace): Pick<ModeContext, 'socketScope'> {
  const listedNamespaces = [namespaceCookie(namespace)];
  return { socketScope: { cgroupRoot: testControlGroup(), bpffs: '/nowhere', listedNamespaces } };
}

/** The rules after the modes have run, one after the other, in a new network. */
async function rulesAfter(modes: readonly ModeName[], situation: Situation): Promise<readonly string[]> {
  const namespace = NetworkNamespace.create();
  try {
    situation.prepare?.(namespace);
    for (const mode of modes) await runMode(namespace, mode, situation.localhostNodePorts);
    const isLeft = situation.firewallStays && modes.at(-1) !== 'iptables';
    return rulesOf(namespace).filter(line => !(isLeft && line.includes('KUBE-FIREWALL')));
  } finally {
    namespace.close();
  }
}

/** All chains that are not built in, and all rules in order. A port of the userspace proxy is random. */
function rulesOf(namespace: NetworkNamespace): readonly string[] {
  return ['iptables', 'ip6tables'].flatMap(program => {
    let table = '';
    const lines: string[] = [];
    for (const line of runIn(namespace, `${program}-save`, []).split('\n')) {
      if (line.startsWith('*')) table = line.slice(1);
      if (line.startsWith('-') || / - \[/.test(line)) lines.push(`${program} ${table} ${withoutPorts(line)}`);
    }
    const isRule = (line: string) => line.includes(' -A ');
    return [...lines.filter(line => !isRule(line)).sort(), ...lines.filter(isRule)];
  });
}

const withoutPorts = (line: string) => line.replace(/--to-(?:ports|destination) \S+|--dport (?!80|30000)\d+/g, 'PORT');

for (const situation of SITUATIONS) {
  for (const last of MODES) {
    for (const other of MODES.filter(mode => mode !== last)) {
      test(`MODE-11 ${situation.title}, ${last} mode has the rules of a fresh start after ${other} mode`, async () => {
        const fresh = await rulesAfter([last], situation);
        assert.deepEqual(await rulesAfter([other, last], situation), fresh);
        assert.deepEqual(await rulesAfter([last, other, last], situation), fresh);
      });
    }
  }
}

test('MODE-11 after iptables mode with node ports at localhost, the ports of the node stay protected', async () => {
  const namespace = NetworkNamespace.create();
  try {
    for (const mode of ['iptables', 'nftables'] as const) await runMode(namespace, mode, true);
    assert.equal(readSysctl('net/ipv4/conf/all/route_localnet', namespace), '1');
    const rules = rulesOf(namespace);
    assert.deepEqual(rules.slice(0, -1), [
      'iptables filter :KUBE-FIREWALL - [0:0]',
      'iptables filter -A INPUT -j KUBE-FIREWALL',
      'iptables filter -A OUTPUT -j KUBE-FIREWALL',
    ]);
    assert.match(
      rules.at(-1) ?? '',
      /^iptables filter -A KUBE-FIREWALL .*"block incoming localnet connections".* -j DROP$/,
    );
  } finally {
    namespace.close();
  }
});

/** The number that the kernel gave to the table. */
function tableHandle(namespace: NetworkNamespace): string {
  const listed = nft(namespace, '-a', 'list', 'table', 'ip', 'kube-proxy');
  return /^table ip kube-proxy \{ # handle (\d+)$/m.exec(listed)?.[1] ?? assert.fail(listed);
}

test('EBPF-65 a change between ebpf and nftables mode keeps the table, and another mode removes it', async () => {
  const namespace = NetworkNamespace.create();
  try {
    await runMode(namespace, 'nftables', false);
    const handle = tableHandle(namespace);
    const rules = nft(namespace, 'list', 'table', 'ip', 'kube-proxy');
    for (const mode of ['ebpf', 'nftables', 'ebpf'] as const) {
      await runMode(namespace, mode, false);
      assert.deepEqual([tableHandle(namespace), nft(namespace, 'list', 'table', 'ip', 'kube-proxy')], [handle, rules]);
    }
    await runMode(namespace, 'iptables', false);
    assert.equal(nft(namespace, 'list', 'tables').includes('ip kube-proxy'), false);
    await runMode(namespace, 'ebpf', false);
    assert.deepEqual(rulesOf(namespace), []);
    assert.equal(nft(namespace, 'list', 'table', 'ip', 'kube-proxy'), rules);
  } finally {
    namespace.close();
  }
});

test('EBPF-65 a proxy of another network namespace leaves the programs of this machine alone', () => {
  const namespace = NetworkNamespace.create();
  try {
    assert.equal(modeNamed('ebpf')?.hasLeftovers?.(namespace), false);
  } finally {
    namespace.close();
  }
});
