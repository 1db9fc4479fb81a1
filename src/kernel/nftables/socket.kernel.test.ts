import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNamespace } from '../../../test/support/nft-lab.ts';
import {
  affinity,
  assertHoldsEverything,
  canonical,
  chains,
  element,
  elements,
  endpoints,
  everything,
  LISTING,
  marks,
  rules,
  sets,
  table,
  unnumbered,
} from '../../../test/support/nft-ruleset.ts';
import { dataBytes, type NftMap, type NftSet, type Table, Transaction } from './index.ts';

test('KERNEL-11 nft lists the committed objects, and reading them back gives equal objects', () =>
  inNamespace(async ({ socket, nft }) => {
    const before = socket.generation();
    const { generation } = await socket.commit(everything());
    assert.equal(generation, before + 1);
    assert.equal(socket.generation(), generation);
    assert.equal(canonical(nft('list', 'ruleset')), canonical(LISTING));
    assertHoldsEverything(socket);
  }));

test('KERNEL-11 a commit returns the generation, unless it begins with the removal or flush of a table', () =>
  inNamespace(async ({ socket }) => {
    const members = elements.get(marks) ?? [];
    const [first, , last] = chains;
    assert.ok(first && last);
    await socket.commit(everything());
    const transaction = () => new Transaction('ip', 'kp');
    const steps: readonly Transaction[] = [
      transaction().flush(marks),
      transaction().addElements(marks, members),
      transaction().deleteElements(marks, members),
      transaction().flush(first),
      transaction().insert({ ...(rules[1] ?? assert.fail()), chain: 'nat-prerouting' }),
      transaction().delete(marks),
      transaction().create(marks),
      transaction().delete(first),
    ];
    for (const step of steps) {
      const before = socket.generation();
      assert.deepEqual(await socket.commit(step), { generation: before + 1 }, step.toString());
    }
    assert.deepEqual(await socket.commit(transaction().flush(table)), { generation: undefined });
    assert.deepEqual(await socket.commit(transaction().delete(table)), { generation: undefined });
  }));

test('KERNEL-11 a commit that changes nothing has no generation', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(everything());
    const generation = socket.generation();
    assert.deepEqual(await socket.commit(new Transaction('ip', 'kp')), { generation: undefined });
    assert.deepEqual(await socket.commit(new Transaction('ip', 'kp').flush(affinity)), { generation: undefined });
    assert.equal(socket.generation(), generation);
    await socket.commit(
      everything()
        .flush(chains[0] ?? table)
        .flush(chains[2] ?? table),
    );
    assert.deepEqual([...socket.listRules('ip', 'kp')], []);
  }));

test('KERNEL-6 the kernel refuses a stale generation and applies nothing of the transaction', () =>
  inNamespace(async ({ socket, nft }) => {
    const generation = socket.generation();
    nft('add', 'table', 'ip', 'foreign');
    await assert.rejects(socket.commit(everything(), { generation }), {
      code: 'KERNEL_STALE',
      errno: 'ERESTART',
      operation: 'commit to table ip kp',
    });
    assert.deepEqual([...socket.listTables()].map(unnumbered), [{ kind: 'table', family: 'ip', name: 'foreign' }]);
    const next = await socket.commit(everything(), { generation: socket.generation() });
    assert.equal(next.generation, generation + 2);
  }));

test('KERNEL-11 other work runs while thirty thousand elements are committed and streamed', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(new Transaction('ip', 'kp').add(table).add(endpoints));
    const data = dataBytes(endpoints.data, ['10.244.1.2', 8080]);
    const many = Array.from({ length: 30_000 }, (_, i) =>
      element(endpoints, [`10.96.${i >> 8}.${i & 255}`, 'tcp', 80, 0], { data }),
    );
    const turns = countTurns();
    try {
      const transaction = new Transaction('ip', 'kp').flush(endpoints).addElements(endpoints, many);
      // On a busy machine the sending thread may finish before this thread runs other work.
      for (let round = 0; turns.count === 0 && round < 20; round++) await socket.commit(transaction);
      const committed = turns.count;
      assert.ok(committed > 0, 'nothing else ran during the commit');
      let read = 0;
      for await (const { data: found } of socket.streamElements('ip', 'kp', endpoints)) if (found?.equals(data)) read++;
      assert.equal(read, 30_000);
      assert.ok(turns.count > committed, 'nothing else ran during the stream');
    } finally {
      turns.stop();
    }
  }));

/** Counts how often other work runs. */
function countTurns(): { readonly count: number; stop(): void } {
  let count = 0;
  let next = setImmediate(turn);
  function turn(): void {
    count++;
    next = setImmediate(turn);
  }
  return {
    get count() {
      return count;
    },
    stop: () => clearImmediate(next),
  };
}

test('KERNEL-11 a listing can run inside another, and one that ends early does not disturb others', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(everything());
    const found: string[] = [];
    for (const set of socket.listSets('ip', 'kp')) {
      for (const { kind } of socket.listElements('ip', 'kp', set)) {
        found.push(`${set.name} ${kind}`);
        break;
      }
    }
    assert.deepEqual(
      found,
      sets.filter(set => set !== affinity).map(({ name }) => `${name} element`),
    );
  }));

test('KERNEL-11 listing a missing table gives nothing, and listing elements of a missing set throws', () =>
  inNamespace(async ({ socket }) => {
    assert.deepEqual([...socket.listChains('ip', 'kp')], []);
    assert.deepEqual([...socket.listSets('ip', 'kp')], []);
    assert.deepEqual([...socket.listRules('ip', 'kp')], []);
    assert.throws(() => [...socket.listElements('ip', 'kp', marks)], {
      code: 'KERNEL_REFUSED',
      errno: 'ENOENT',
      operation: 'list map ip kp marks',
    });
  }));

test('KERNEL-11 tables of the families ip, ip6 and inet have separate objects', () =>
  inNamespace(async ({ socket, nft }) => {
    const map: NftMap = {
      kind: 'map',
      name: 'm',
      type: ['ipv6_addr', 'inet_proto'],
      data: ['ipv6_addr', 'inet_service'],
    };
    const ranges: NftSet = { kind: 'set', name: 'r', type: ['ipv6_addr'], flags: ['interval'] };
    const member = element(map, ['fd00::1', 'udp'], { data: dataBytes(map.data, ['fd00::2', 53]) });
    const range = element(ranges, ['fd00::'], {
      keyEnd: dataBytes(['ipv6_addr'], ['fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']),
    });
    for (const family of ['ip6', 'inet'] as const) {
      const own: Table = { kind: 'table', family, name: 'kp' };
      const transaction = new Transaction(family, 'kp').add(own).add(map).add(ranges);
      await socket.commit(transaction.addElements(map, [member]).addElements(ranges, [range]));
      assert.match(nft('list', 'map', family, 'kp', 'm'), /elements = \{ fd00::1 \. udp : fd00::2 \. 53 \}/);
      assert.match(nft('list', 'set', family, 'kp', 'r'), /elements = \{ fd00::\/8 \}/);
      assert.deepEqual([...socket.listElements(family, 'kp', map)], [member]);
      assert.deepEqual([...socket.listElements(family, 'kp', ranges)], [range]);
    }
    assert.deepEqual([...socket.listSets('ip', 'kp')], []);
    assert.deepEqual([...socket.listTables()].map(({ family }) => family).sort(), ['inet', 'ip6']);
  }));
