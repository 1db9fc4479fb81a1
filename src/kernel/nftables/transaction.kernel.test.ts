import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNamespace } from '../../../test/support/nft-lab.ts';
import {
  assertHoldsEverything,
  canonical,
  chains,
  elements,
  everything,
  LISTING,
  marks,
  sets,
  sorted,
  table,
} from '../../../test/support/nft-ruleset.ts';
import { type Chain, Transaction } from './index.ts';

test('KERNEL-4 nft runs the printed script, and reading its objects back gives equal objects', () =>
  inNamespace(async ({ socket, nft, script }) => {
    script(everything().toString(), '-c');
    assert.deepEqual([...socket.listTables()], []);
    script(everything().toString());
    assert.equal(canonical(nft('list', 'ruleset')), canonical(LISTING));
    assertHoldsEverything(socket);
  }));

test('KERNEL-4 nft accepts the printed text of all other commands', () =>
  inNamespace(async ({ socket, script }) => {
    await socket.commit(everything());
    const [listed] = socket.listRules('ip', 'kp', 'pick');
    const [, , pick] = chains;
    assert.ok(listed?.handle && pick);
    const changes = new Transaction('ip', 'kp')
      .insert({ ...listed, position: listed.handle })
      .add({ ...listed, position: listed.handle })
      .delete({ ...listed, handle: listed.handle })
      .flush(pick);
    for (const [set, list] of elements) changes.deleteElements(set, list).createElements(set, list);
    // A second script is needed: nft does not read the elements of a set that a script flushes, so it would not find
    // the elements to delete.
    const removals = new Transaction('ip', 'kp');
    for (const set of sets) removals.flush(set);
    removals.delete(marks).create(marks).create({ kind: 'chain', name: 'other' }).flush(table).delete(table);
    removals.destroy({ kind: 'table', family: 'ip6', name: 'none' });
    for (const transaction of [changes, removals]) {
      script(transaction.toString(), '-c');
      await socket.commit(transaction);
    }
    assert.deepEqual([...socket.listTables()], []);
  }));

test('KERNEL-11 deletes elements, rules, chains, sets and tables', () =>
  inNamespace(async ({ socket, nft }) => {
    await socket.commit(everything());
    const [listed] = socket.listRules('ip', 'kp', 'nat-prerouting');
    assert.ok(listed?.handle);
    const transaction = new Transaction('ip', 'kp').delete({ ...listed, handle: listed.handle });
    for (const [set, list] of elements) transaction.deleteElements(set, list.slice(0, 1));
    await socket.commit(transaction);
    assert.deepEqual([...socket.listRules('ip', 'kp', 'nat-prerouting')], []);
    for (const [set, list] of elements) {
      assert.deepEqual(sorted(socket.listElements('ip', 'kp', set)), sorted(list.slice(1)));
    }
    const rest = new Transaction('ip', 'kp').flush(table);
    for (const set of sets) rest.flush(set).delete(set);
    for (const chain of chains) rest.delete(chain);
    await socket.commit(rest);
    assert.equal(nft('list', 'ruleset'), 'table ip kp {\n\tcomment "rules for kube-proxy"\n}\n');
    await socket.commit(new Transaction('ip', 'kp').delete(table));
    assert.deepEqual([...socket.listTables()], []);
  }));

test('KERNEL-11 destroy removes existing objects and ignores missing ones', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(new Transaction('ip', 'kp').destroy(table));
    await socket.commit(everything());
    const chain: Chain = { kind: 'chain', name: 'filter-input', base: { type: 'filter', hook: 'output', priority: 7 } };
    await socket.commit(
      new Transaction('ip', 'kp')
        .destroy(chain)
        .destroy(marks)
        .destroy({ ...marks, name: 'none' }),
    );
    assert.deepEqual(
      [...socket.listChains('ip', 'kp')].map(({ name }) => name),
      ['nat-prerouting', 'pick'],
    );
    assert.ok(![...socket.listSets('ip', 'kp')].some(({ name }) => name === 'marks'));
    await socket.commit(new Transaction('ip', 'kp').destroy(table));
    assert.deepEqual([...socket.listTables()], []);
  }));
