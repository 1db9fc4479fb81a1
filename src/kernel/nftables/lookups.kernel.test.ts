import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNamespace } from '../../../test/support/nft-lab.ts';
import { chains, elements, everything, rules, sets, table, unnumbered } from '../../../test/support/nft-ruleset.ts';
import { dataBytes } from './index.ts';

test('KERNEL-11 single objects are read by their names and keys as listings show them', () =>
  inNamespace(async ({ socket, nft }) => {
    await socket.commit(everything());
    const { lookups } = socket;
    assert.deepEqual(unnumbered(lookups.table('ip', 'kp') ?? assert.fail()), table);
    for (const chain of chains) {
      assert.deepEqual(unnumbered(lookups.chain('ip', 'kp', chain.name) ?? assert.fail(chain.name)), chain);
    }
    for (const set of sets) {
      assert.deepEqual(unnumbered(lookups.set('ip', 'kp', set.name) ?? assert.fail(set.name)), set);
    }
    for (const [set, list] of elements) {
      if (set.flags?.includes('interval')) continue;
      for (const element of list) assert.deepEqual(lookups.element('ip', 'kp', set.name, element.key), element);
    }
    for (const chain of chains) {
      const own = rules.filter(rule => rule.chain === chain.name);
      assert.deepEqual(lookups.rules('ip', 'kp', chain.name, 100).map(unnumbered), own);
      assert.deepEqual(lookups.rules('ip', 'kp', chain.name, 0), []);
    }
    nft('add', 'element', 'ip', 'kp', 'affinity', '{ 10.0.0.9 }');
    const client = lookups.element('ip', 'kp', 'affinity', dataBytes(['ipv4_addr'], ['10.0.0.9']));
    assert.ok((client?.expires ?? 0) > 10_000_000);
  }));

test('KERNEL-11 a lookup of a missing object gives undefined, whatever is missing', () =>
  inNamespace(async ({ socket, nft }) => {
    const { lookups } = socket;
    const key = dataBytes(['ipv4_addr'], ['10.0.0.9']);
    const nothing = () => {
      assert.equal(lookups.chain('ip', 'kp', 'missing'), undefined);
      assert.deepEqual(lookups.rules('ip', 'kp', 'missing', 9), []);
      assert.equal(lookups.set('ip', 'kp', 'missing'), undefined);
      assert.equal(lookups.element('ip', 'kp', 'missing', key), undefined);
    };
    nothing();
    assert.equal(lookups.table('ip', 'kp'), undefined);
    nft('add', 'table', 'ip6', 'kp');
    assert.equal(lookups.table('ip', 'kp'), undefined);
    nft('add', 'table', 'ip', 'kp');
    nothing();
    nft('add', 'set', 'ip', 'kp', 's', '{ type ipv4_addr; }');
    assert.equal(lookups.element('ip', 'kp', 's', key), undefined);
  }));
