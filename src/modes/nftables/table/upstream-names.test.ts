import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modeSettingsFor } from '../../../../test/support/mode-harness.ts';
import type { Chain, Expression, SetOrMap } from '../../../kernel/nftables/index.ts';
import { FAMILIES } from '../../../net/index.ts';
import type { ChainRules } from './chain-rules.ts';
import { fixedChains } from './fixed.ts';
import { fixedSets, type Layout, layoutOf } from './layout.ts';
import { externalClusterChain, externalLocalChain, permanentPicks } from './shared-chains.ts';

// What upstream v1.36 and v1.37 write. Upstream cannot write its rules if one of these objects has another type.
const setsOfUpstream = (address: string): Readonly<Record<string, string>> => ({
  'cluster-ips': address,
  'nodeport-ips': address,
  'hairpin-connections': `${address} . ${address} . inet_proto . inet_service`,
  'service-ips': `${address} . inet_proto . inet_service : verdict`,
  'service-nodeports': 'inet_proto . inet_service : verdict',
  'no-endpoint-services': `${address} . inet_proto . inet_service : verdict`,
  'no-endpoint-nodeports': 'inet_proto . inet_service : verdict',
  'firewall-ips': `${address} . inet_proto . inet_service : verdict`,
  'localhost-nodeport-reject-ports': 'inet_proto . inet_service : verdict',
});
const BASE_CHAINS: Readonly<Record<string, string>> = {
  'filter-prerouting-pre-dnat': 'filter prerouting -110',
  'filter-output-pre-dnat': 'filter output -110',
  'filter-input': 'filter input 0',
  'filter-forward': 'filter forward 0',
  'filter-output': 'filter output 0',
  'nat-prerouting': 'nat prerouting -100',
  'nat-output': 'nat output -100',
  'nat-postrouting': 'nat postrouting 100',
};
/** Upstream removes the rules of these chains in its first transaction. */
const OTHER_FLUSHED_CHAINS = [
  'services',
  'masquerading',
  'firewall-check',
  'cluster-ips-check',
  'service-endpoints-check',
  'nodeport-endpoints-check',
  'reject-chain',
];
/** Upstream deletes these sets, depending on its configuration. */
const DELETED_SETS = ['nodeport-ips', 'localhost-nodeport-reject-ports'];

const setText = ({ type, kind, ...set }: SetOrMap) =>
  [...type].join(' . ') + (kind === 'map' && 'data' in set ? ` : ${set.data.join(' . ')}` : '');

const baseText = ({ base }: Chain) => base && `${base.type} ${base.hook} ${base.priority}`;

function allChains(layout: Layout, matchAll: boolean): readonly ChainRules[] {
  const settings = modeSettingsFor(layout.family);
  const nodePortAddresses = { ...settings.nodePortAddresses, matchAll };
  const options = { ...settings, nodePortAddresses };
  return [
    ...fixedChains(layout, options),
    ...permanentPicks(layout),
    externalClusterChain('external-cluster-3', 'pick-cluster-3', options),
    externalLocalChain('external-cluster-3-local-1', 'pick-cluster-3', 'pick-local-1', options),
  ];
}

const setsIn = (expressions: readonly Expression[]) =>
  expressions.flatMap(expression => ('set' in expression && typeof expression.set === 'string' ? expression.set : []));

for (const family of FAMILIES) {
  const layout = layoutOf(family, { countConnections: true, localhostNodePorts: true });
  const wanted = setsOfUpstream(family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr');

  test(`NFT-20 a set of the ${family} table with a name of upstream has upstream's type and no flags`, () => {
    const shared = fixedSets(layout).filter(({ name }) => name in wanted);
    assert.ok(shared.length > 5, String(shared.map(({ name }) => name)));
    for (const set of shared) {
      assert.equal(setText(set), wanted[set.name], set.name);
      assert.deepEqual([set.flags, set.timeout, set.counter], [undefined, undefined, undefined], set.name);
    }
  });

  for (const matchAll of [true, false]) {
    const chains = allChains(layout, matchAll);

    test(`NFT-20 base chains of the ${family} table have the names, hooks and priorities of upstream's`, () => {
      const base = chains.filter(({ chain }) => chain.base);
      const found = Object.fromEntries(base.map(({ chain }) => [chain.name, baseText(chain)]));
      assert.deepEqual(found, BASE_CHAINS);
    });

    test(`NFT-20 chains of the ${family} table that upstream leaves alone use no set that upstream deletes`, () => {
      const flushed = [...Object.keys(BASE_CHAINS), ...OTHER_FLUSHED_CHAINS];
      const left = chains.filter(({ chain }) => !flushed.includes(chain.name) && !chain.name.includes('/'));
      assert.ok(left.length > 40);
      const used = left.flatMap(({ rules }) => rules.flatMap(({ expressions }) => setsIn(expressions)));
      assert.ok(used.includes('cluster-endpoints'));
      assert.deepEqual(
        used.filter(name => DELETED_SETS.includes(name) || name.startsWith('affinity-')),
        [],
      );
    });
  }
}
