import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whileChainsVanish } from '../../../test/support/vanishing-chains.ts';
import { NetworkNamespace } from '../netns.ts';
import { Iptables } from './iptables.ts';

for (const program of ['iptables-nft', 'iptables-legacy', 'ip6tables-nft', 'ip6tables-legacy']) {
  test(`KERNEL-11 ${program}: the uses of a chain are its rules and the jumps to it`, async () => {
    const namespace = NetworkNamespace.create();
    try {
      const family = program.startsWith('ip6') ? 'ip6' : 'ip';
      const iptables = await Iptables.open(family, { program, namespace });
      await iptables.restore(
        [
          '*nat\n:A - [0:0]\n:B - [0:0]\n:EMPTY - [0:0]\n',
          '-A OUTPUT -m comment --comment "-A B -j EMPTY" -j A\n-A A -p tcp -j B\n-A A -g B\n-A B -j RETURN\n',
          '-A B -m comment --comment nothing\nCOMMIT\n',
        ].join(''),
      );
      const uses = await iptables.chainUses();
      const own = ['A', 'B', 'EMPTY', 'OUTPUT', 'NONE'].map(name => uses.get('nat')?.get(name));
      assert.deepEqual(own, [3, 4, 0, 1, undefined]);
      assert.equal(uses.get('mangle'), undefined);
      assert.equal(typeof iptables.generation(), program.endsWith('nft') ? 'number' : 'undefined');
    } finally {
      namespace.close();
    }
  });
}

test('KERNEL-7 chains are listed although another program deletes its own chains meanwhile', async () => {
  const namespace = NetworkNamespace.create();
  try {
    const iptables = await Iptables.open('ip', { program: 'iptables-nft', namespace });
    await iptables.restore('*nat\n:OWN - [0:0]\n-A OUTPUT -j OWN\nCOMMIT\n');
    await whileChainsVanish(namespace, async () => {
      for (let i = 0; i < 30; i++) assert.equal((await iptables.chainUses()).get('nat')?.get('OWN'), 1);
    });
  } finally {
    namespace.close();
  }
});
