import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { IptablesHarness } from '../../../test/support/iptables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { whileChainsVanish } from '../../../test/support/vanishing-chains.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { errorText } from '../../lib/error-text.ts';
import { cleanupIptables } from './cleanup.ts';

/** The rules of the kubelet and of other programs. */
const FOREIGN = `*mangle
:KUBE-IPTABLES-HINT - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
COMMIT
*filter
:KUBE-FIREWALL - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
-A INPUT -j KUBE-FIREWALL
-A OUTPUT -j KUBE-FIREWALL
-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP
-A INPUT -m comment --comment "another program" -p tcp -j ACCEPT
COMMIT
*nat
:KUBE-KUBELET-CANARY - [0:0]
:MINE - [0:0]
-A POSTROUTING -j MINE
COMMIT
`;

const saved = (namespace: NetworkNamespace, program: string) =>
  runIn(namespace, `${program}-save`, [])
    .split('\n')
    .filter(line => /^[*:-]/.test(line))
    .map(line => line.replace(/ \[\d+:\d+\]$/, ''));

for (const backend of ['nf_tables', 'legacy'] as const) {
  const suffix = backend === 'legacy' ? 'legacy' : 'nft';
  test(`IPT-13 the cleanup removes what the mode wrote in ${backend}, in both families, and nothing else`, async () => {
    const namespace = NetworkNamespace.create();
    // With localhost node ports the mode adds a rule to KUBE-FIREWALL. The cleanup leaves it, as it may be the
    // kubelet's.
    const options = { backend, localhostNodePorts: false };
    const modes = (['IPv4', 'IPv6'] as const).map(family => new IptablesHarness(namespace, { ...options, family }));
    try {
      const programs = [`iptables-${suffix}`, `ip6tables-${suffix}`];
      for (const program of programs) runIn(namespace, `${program}-restore`, ['--noflush'], FOREIGN);
      const before = programs.map(program => saved(namespace, program).toSorted());
      for (const [i, mode] of modes.entries()) {
        const ip = (n: number) => (i === 0 ? `10.96.0.${n}` : `fd00::${n}`);
        const spec = { type: 'LoadBalancer', ingress: [{ ip: ip(3) }], ports: [{ nodePort: 30000 }] };
        const ranges = { loadBalancerSourceRanges: [i === 0 ? '10.0.0.0/8' : 'fd00::/16'] };
        mode.setService(service('web', { clusterIP: ip(1), ...spec, ...ranges, externalTrafficPolicy: 'Local' }));
        mode.setEndpointSlice(slice('web-1', [{ ip: ip(9), nodeName: 'node-a' }]));
        await mode.sync();
      }
      assert.ok(saved(namespace, programs[1] ?? '').some(line => line.startsWith(':KUBE-FW-')));
      const { removed, errors } = await cleanupIptables({ namespace, programs: { backend } });
      assert.deepEqual(errors, []);
      assert.deepEqual(removed, [
        `10 chains of nat (IPv4, ${backend})`,
        `6 chains of filter (IPv4, ${backend})`,
        `1 chain of mangle (IPv4, ${backend})`,
        `10 chains of nat (IPv6, ${backend})`,
        `6 chains of filter (IPv6, ${backend})`,
        `1 chain of mangle (IPv6, ${backend})`,
      ]);
      assert.deepEqual(
        programs.map(program => saved(namespace, program).toSorted()),
        before,
      );
      assert.deepEqual(
        { ...(await cleanupIptables({ namespace, programs: { backend } })) },
        { removed: [], errors: [], kept: [] },
      );
    } finally {
      await Promise.all(modes.map(mode => mode.close()));
      namespace.close();
    }
  });
}

test('IPT-13 without iptables, or without rules of the mode, the cleanup removes and creates nothing', async () => {
  const programs = new FakePrograms({});
  const namespace = NetworkNamespace.create();
  try {
    const nothing = { removed: [], errors: [], kept: [] };
    assert.deepEqual(
      { ...(await cleanupIptables({ namespace, programs: { env: programs.env({ only: true }) } })) },
      nothing,
    );
    for (const backend of ['nf_tables', 'legacy'] as const) {
      assert.deepEqual({ ...(await cleanupIptables({ namespace, programs: { backend } })) }, nothing);
    }
    assert.deepEqual([saved(namespace, 'iptables-nft'), saved(namespace, 'iptables-legacy')], [[], []]);
  } finally {
    namespace.close();
    programs.close();
  }
});

test('IPT-13 the cleanup reports a chain that it cannot remove, and removes the others', async () => {
  const namespace = NetworkNamespace.create();
  const mode = new IptablesHarness(namespace);
  mode.setService(service('web', { clusterIP: '10.96.0.10' }));
  mode.setEndpointSlice(slice('web-1', ['10.244.1.1']));
  try {
    await mode.sync();
    const marks = () => saved(namespace, 'iptables').filter(line => line.includes('KUBE-MARK-MASQ'));
    const [declared = '', ...rules] = marks();
    runIn(namespace, 'iptables', ['-t', 'nat', '-N', 'MINE']);
    runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'MINE', '-j', 'KUBE-MARK-MASQ']);
    const { removed, errors } = await cleanupIptables({ namespace });
    assert.deepEqual(errors.map(errorText), [
      'chain KUBE-MARK-MASQ of nat (IPv4, nf_tables): rules of other programs jump to it: delete these rules ' +
        '(iptables-save -t nat | grep -w -- KUBE-MARK-MASQ), then run the cleanup again',
    ]);
    assert.deepEqual(removed, [
      '6 chains of nat (IPv4, nf_tables)',
      '6 chains of filter (IPv4, nf_tables)',
      '1 chain of mangle (IPv4, nf_tables)',
    ]);
    const own = rules.filter(rule => rule.startsWith('-A KUBE-MARK-MASQ'));
    assert.equal(own.length, 1);
    assert.deepEqual(marks(), [declared, ...own, '-A MINE -j KUBE-MARK-MASQ']);
  } finally {
    await mode.close();
    namespace.close();
  }
});

test('IPT-13 the cleanup removes the rules of both backends by default', async () => {
  const namespace = NetworkNamespace.create();
  const modes = (['nf_tables', 'legacy'] as const).map(backend => new IptablesHarness(namespace, { backend }));
  try {
    for (const mode of modes) await mode.sync();
    const { removed, errors } = await cleanupIptables({ namespace });
    assert.deepEqual(errors, []);
    assert.deepEqual(removed, [
      '5 chains of nat (IPv4, nf_tables)',
      '6 chains of filter (IPv4, nf_tables)',
      '1 chain of mangle (IPv4, nf_tables)',
      '5 chains of nat (IPv4, legacy)',
      '6 chains of filter (IPv4, legacy)',
      '1 chain of mangle (IPv4, legacy)',
    ]);
  } finally {
    await Promise.all(modes.map(mode => mode.close()));
    namespace.close();
  }
});

test('IPT-17 syncs and the cleanup succeed while another program deletes its own chains', async () => {
  const namespace = NetworkNamespace.create();
  const mode = new IptablesHarness(namespace, { backend: 'nf_tables', localhostNodePorts: false });
  try {
    mode.setService(service('web', { clusterIP: '10.96.0.1', ports: [{ nodePort: 30000 }] }));
    mode.setEndpointSlice(slice('web-1', ['10.244.1.1']));
    await mode.sync();
    await whileChainsVanish(namespace, async () => {
      for (let i = 0; i < 5; i++) assert.deepEqual(await mode.restart(), { full: true });
      await mode.close();
      assert.deepEqual((await cleanupIptables({ namespace, programs: { backend: 'nf_tables' } })).errors, []);
    });
    assert.deepEqual(mode.events.lines, []);
    assert.deepEqual(
      saved(namespace, 'iptables-nft').filter(line => line.includes('KUBE-') && !line.includes('KUBE-FIREWALL')),
      [],
    );
  } finally {
    await mode.close();
    namespace.close();
  }
});

test('IPT-13 the cleanup removes KUBE-FIREWALL only if it is empty and only our jumps lead to it', async () => {
  const namespace = NetworkNamespace.create();
  const options = { backend: 'nf_tables', localhostNodePorts: false } as const;
  const mode = new IptablesHarness(namespace, options);
  const firewall = () => saved(namespace, 'iptables-nft').filter(line => line.includes('KUBE-FIREWALL'));
  const cleanup = async () => {
    await mode.close();
    assert.deepEqual((await cleanupIptables({ namespace, programs: { backend: 'nf_tables' } })).errors, []);
  };
  try {
    await mode.sync();
    runIn(namespace, 'iptables', ['-A', 'FORWARD', '-j', 'KUBE-FIREWALL']);
    await cleanup();
    assert.equal(firewall().length, 4, 'another program jumps to the chain');
    runIn(namespace, 'iptables', ['-D', 'FORWARD', '-j', 'KUBE-FIREWALL']);
    runIn(namespace, 'iptables', ['-A', 'KUBE-FIREWALL', '-j', 'RETURN']);
    await cleanup();
    assert.equal(firewall().length, 4, 'another program has a rule in the chain');
    runIn(namespace, 'iptables', ['-F', 'KUBE-FIREWALL']);
    await cleanup();
    assert.deepEqual(firewall(), []);
  } finally {
    await mode.close();
    namespace.close();
  }
});
