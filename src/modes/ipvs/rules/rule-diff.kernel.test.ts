import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runIn } from '../../../../test/support/run-in.ts';
import { IpsetSocket } from '../../../kernel/ipset/index.ts';
import { Iptables } from '../../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import type { Family } from '../../../net/index.ts';
import { listRules } from '../../iptables-listing.ts';
import { ipSet, SET_KEYS } from '../names.ts';
import { JUMPS } from './jumps.ts';
import { ruleDiffText } from './rule-diff.ts';
import { type RuleInput, restoreText } from './rule-text.ts';

const input = (family: Family): RuleInput => ({
  family,
  masqueradeAll: false,
  masqueradeMark: 0x4000,
  localDetector: { kind: 'interface-prefix', prefix: 'veth' },
  randomFully: true,
  used: new Set(SET_KEYS),
  drops: [],
});

async function withSets(family: Family, work: (namespace: NetworkNamespace) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  const socket = IpsetSocket.open({ namespace });
  try {
    await socket.restore(SET_KEYS.map(key => ({ kind: 'create', set: ipSet(key, family) }) as const));
    await work(namespace);
  } finally {
    socket.close();
    namespace.close();
  }
}

const difference = async (rules: RuleInput, namespace: NetworkNamespace) =>
  ruleDiffText(rules, await listRules(rules.family, { namespace }), { namespace });

for (const family of ['IPv4', 'IPv6'] as const) {
  const name = family === 'IPv4' ? 'iptables' : 'ip6tables';
  test(`IPVS-21 ${family} rules as the mode writes them are no difference`, () =>
    withSets(family, async namespace => {
      const rules = input(family);
      assert.equal(await difference(rules, namespace), restoreText(rules, JUMPS), 'everything is missing at first');
      runIn(namespace, `${name}-restore`, ['--noflush'], restoreText(rules, JUMPS));
      assert.equal(await difference(rules, namespace), '');
    }));
}

test('IPVS-21 the difference is the chains that another program changed, and the jumps that it deleted', () =>
  withSets('IPv4', async namespace => {
    const rules = input('IPv4');
    const iptables = await Iptables.open('ip', { namespace });
    await iptables.restore(restoreText(rules, JUMPS));
    runIn(namespace, 'iptables', ['-t', 'nat', '-D', 'KUBE-MARK-MASQ', '1']);
    runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'KUBE-LOAD-BALANCER', '-j', 'ACCEPT']);
    runIn(namespace, 'iptables', ['-D', 'OUTPUT', '1']);
    const text = await difference(rules, namespace);
    assert.deepEqual(text.split('\n'), [
      '*nat',
      ':KUBE-LOAD-BALANCER - [0:0]',
      ':KUBE-MARK-MASQ - [0:0]',
      '-A KUBE-LOAD-BALANCER -m comment --comment "Kubernetes service load balancer ip + port with externalTrafficPolicy=local" -m set --match-set KUBE-LOAD-BALANCER-LOCAL dst,dst -j RETURN',
      '-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ',
      '-A KUBE-MARK-MASQ -j MARK --or-mark 0x00004000',
      'COMMIT',
      '*filter',
      '-I OUTPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-OUT-FILTER',
      'COMMIT',
      '',
    ]);
    await iptables.restore(text);
    assert.equal(await difference(rules, namespace), '');
  }));
