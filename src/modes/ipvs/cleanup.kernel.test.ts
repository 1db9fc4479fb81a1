import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Iptables, parseSave } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
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
