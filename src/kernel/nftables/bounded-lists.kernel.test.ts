import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNamespace } from '../../../test/support/nft-lab.ts';
import { cidrs, elements, everything, sorted } from '../../../test/support/nft-ruleset.ts';
import { listBaseChains, listElementsUpTo, listRulesUpTo, listTableSizes } from './bounded-lists.ts';

test('KERNEL-11 base chains of all tables of a family are listed, without other chains', () =>
  inNamespace(async ({ socket, namespace, nft }) => {
    await socket.commit(everything());
    nft('add', 'table', 'ip', 'other');
    nft('add', 'chain', 'ip', 'other', 'late', '{ type filter hook forward priority 7; }');
    const found = await listBaseChains('ip', namespace);
    assert.deepEqual(found, [
      { table: 'kp', name: 'nat-prerouting', base: { type: 'nat', hook: 'prerouting', priority: -100 } },
      { table: 'kp', name: 'filter-input', base: { type: 'filter', hook: 'input', priority: 0, policy: 'drop' } },
      { table: 'other', name: 'late', base: { type: 'filter', hook: 'forward', priority: 7 } },
    ]);
    assert.deepEqual(await listBaseChains('inet', namespace), []);
  }));

test('KERNEL-11 rules and elements are listed up to a limit', () =>
  inNamespace(async ({ socket, namespace }) => {
    await socket.commit(everything());
    const rules = (limit: number, chain?: string) =>
      listRulesUpTo(limit, { family: 'ip', table: 'kp', ...(chain !== undefined && { chain }) }, namespace);
    assert.deepEqual(
      (await rules(9)).items.map(({ chain }) => chain),
      ['nat-prerouting', 'pick'],
    );
    assert.equal((await rules(2)).isComplete, true);
    assert.equal((await rules(1)).isComplete, false);
    assert.deepEqual(
      (await rules(9, 'pick')).items.map(({ chain }) => chain),
      ['pick'],
    );
    const place = { family: 'ip', table: 'kp', set: cidrs } as const;
    assert.equal(await listElementsUpTo(3, place, namespace), undefined);
    const all = await listElementsUpTo(100, place, namespace);
    assert.deepEqual(sorted(all ?? []), sorted(elements.get(cidrs) ?? []));
  }));

test('KERNEL-11 tables of all families are listed, also of those that are not decoded', () =>
  inNamespace(async ({ namespace, nft }) => {
    for (const family of ['ip', 'inet', 'bridge', 'netdev', 'arp']) nft('add', 'table', family, `t-${family}`);
    const found = await listTableSizes(namespace);
    assert.deepEqual(found.map(({ family, name }) => `${family} ${name}`).sort(), [
      'arp t-arp',
      'bridge t-bridge',
      'inet t-inet',
      'ip t-ip',
      'netdev t-netdev',
    ]);
  }));
