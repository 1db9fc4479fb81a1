import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runIn } from '../../../test/support/run-in.ts';
import { Iptables, parseSave } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { cleanupIpvs } from './cleanup.ts';

test('IPVS-13 cleanup removes chains in both iptables backends, also where there is no ip_vs', async () => {
  const namespace = NetworkNamespace.create();
  const text = '*nat\n:KUBE-NODE-PORT - [0:0]\n:KUBE-SERVICES - [0:0]\n:OTHER - [0:0]\nCOMMIT\n';
  try {
    const backends = await Promise.all(
      ['iptables-nft', 'iptables-legacy'].map(program => Iptables.open('ip', { program, namespace })),
    );
    for (const iptables of backends) await iptables.restore(text);
    const { removed, errors } = await cleanupIpvs({ namespace });
    assert.deepEqual(errors, []);
    assert.deepEqual(removed, ['2 IPv4 chains', '2 IPv4 chains']);
    for (const iptables of backends) {
      const chains = [
        ...(parseSave(await iptables.save())
          .get('nat')
          ?.keys() ?? []),
      ];
      assert.ok(chains.includes('OTHER'));
      assert.deepEqual(
        chains.filter(chain => chain.startsWith('KUBE-')),
        [],
      );
    }
  } finally {
    namespace.close();
  }
});

test('IPVS-13 cleanup names each thing that stays, the reason and what to do', async () => {
  const namespace = NetworkNamespace.create();
  const route = RouteSocket.open({ namespace });
  try {
    runIn(
      namespace,
      'iptables-nft-restore',
      ['--noflush'],
      '*nat\n:KUBE-NODE-PORT - [0:0]\n:KUBE-SERVICES - [0:0]\n:MINE - [0:0]\n-A MINE -j KUBE-NODE-PORT\nCOMMIT\n',
    );
    route.addLink({ kind: 'bridge', name: 'kube-ipvs0' });
    const { removed, errors, kept } = await cleanupIpvs({ namespace, programs: { backend: 'nf_tables' } });
    assert.deepEqual(removed, ['1 IPv4 chains']);
    assert.deepEqual(kept.map(errorText), [
      'chain KUBE-NODE-PORT of nat (IPv4, nf_tables): rules of other programs jump to it: delete these rules ' +
        '(iptables-nft-save -t nat | grep -w -- KUBE-NODE-PORT), then run the cleanup again',
    ]);
    assert.deepEqual(errors.map(errorText), [
      'link kube-ipvs0: it is of kind bridge, but kube-proxy makes it of kind dummy: ' +
        'if no other program needs it, delete it (ip link del kube-ipvs0)',
    ]);
  } finally {
    route.close();
    namespace.close();
  }
});
