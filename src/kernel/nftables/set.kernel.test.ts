import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNamespace } from '../../../test/support/nft-lab.ts';
import { address, affinity, element, marks, sorted, table, unnumbered } from '../../../test/support/nft-ruleset.ts';
import { type Element, type NftSet, type Rule, Transaction } from './index.ts';

test('KERNEL-11 the kernel keeps and lists a catch-all element', () =>
  inNamespace(async ({ socket, nft }) => {
    const star: Element = { kind: 'element', key: Buffer.alloc(0), catchAll: true, data: address('9.9.9.9') };
    await socket.commit(new Transaction('ip', 'kp').add(table).add(marks).addElements(marks, [star]));
    assert.match(nft('list', 'map', 'ip', 'kp', 'marks'), /elements = \{ \* : 9\.9\.9\.9 \}/);
    assert.deepEqual([...socket.listElements('ip', 'kp', marks)], [star]);
    const removal = new Transaction('ip', 'kp').deleteElements(marks, [star]);
    assert.equal(removal.toString(), 'delete element ip kp marks { * }\n');
    await socket.commit(removal);
    assert.deepEqual([...socket.listElements('ip', 'kp', marks)], []);
  }));

test('KERNEL-11 elements have a timeout and the time that is left, also those that nft added', () =>
  inNamespace(async ({ socket, nft }) => {
    const timed: NftSet = { kind: 'set', name: 'timed', type: ['ipv4_addr'], flags: ['timeout'] };
    const own = element(timed, ['1.1.1.1'], { timeout: 3_600_000 });
    await socket.commit(
      new Transaction('ip', 'kp')
        .add(table)
        .add(affinity)
        .add(timed)
        .addElements(timed, [own, element(timed, ['1.1.1.2'])])
        .addElements(affinity, [element(affinity, ['2.2.2.2'])]),
    );
    assert.match(nft('list', 'set', 'ip', 'kp', 'timed'), /1\.1\.1\.1 timeout 1h expires 59m59s/);
    nft('add', 'element', 'ip', 'kp', 'timed', '{ 1.1.1.3 timeout 2h expires 1h comment "nft" }');
    const [first, second, third] = sorted(socket.listElements('ip', 'kp', timed));
    assert.equal(first?.timeout, 3_600_000);
    assert.ok((first?.expires ?? 0) > 3_590_000 && (first?.expires ?? 0) <= 3_600_000);
    assert.deepEqual(second, element(timed, ['1.1.1.2']));
    assert.equal(third?.timeout, 7_200_000);
    assert.equal(third?.comment, 'nft');
    assert.ok((third?.expires ?? 0) <= 3_600_000);
    const [sticky] = socket.listElements('ip', 'kp', affinity);
    assert.equal(sticky?.timeout, undefined);
    assert.ok((sticky?.expires ?? 0) > 10_790_000);
  }));

test('KERNEL-11 a transaction can add a rule with its own anonymous set', () =>
  inNamespace(async ({ socket, nft }) => {
    const own: NftSet = {
      kind: 'set',
      name: '__set%d',
      type: ['ipv4_addr'],
      flags: ['anonymous', 'constant'],
      size: 2,
      id: 1,
    };
    const rule: Rule = {
      kind: 'rule',
      chain: 'pick',
      expressions: [
        { kind: 'payload', base: 'network', offset: 12, len: 4, dreg: 1 },
        { kind: 'lookup', set: own.name, setId: 1, sreg: 1 },
        { kind: 'verdict', verdict: { kind: 'drop' } },
      ],
    };
    const members = [element(own, ['1.1.1.1']), element(own, ['2.2.2.2'])];
    await socket.commit(
      new Transaction('ip', 'kp')
        .add(table)
        .add({ kind: 'chain', name: 'pick' })
        .add(marks)
        .add(own)
        .addElements(own, members)
        .add(rule),
    );
    assert.match(nft('list', 'chain', 'ip', 'kp', 'pick'), /ip saddr \{ 1\.1\.1\.1, 2\.2\.2\.2 \} drop/);
    const listed = [...socket.listSets('ip', 'kp')].find(({ name }) => name !== 'marks');
    assert.deepEqual(listed && unnumbered(listed), {
      kind: 'set',
      name: '__set0',
      type: own.type,
      flags: own.flags,
      size: 2,
    });
    assert.deepEqual(listed && sorted(socket.listElements('ip', 'kp', listed)), members);
  }));

test('KERNEL-11 elements of a set with counters are listed with their counters, also those that nft added', () =>
  inNamespace(async ({ socket, nft, script }) => {
    const counted: NftSet = { kind: 'set', name: 'counted', type: ['ipv4_addr'], counter: true, comment: 'by address' };
    const counter = { kind: 'counter', packets: 5n, bytes: 99n } as const;
    const members = [element(counted, ['1.1.1.1'], { comment: 'one' }), element(counted, ['2.2.2.2'], { counter })];
    await socket.commit(new Transaction('ip', 'kp').add(table).add(counted).addElements(counted, members));
    const listing = nft('list', 'set', 'ip', 'kp', 'counted');
    assert.match(listing, /^\t\tcounter$/m);
    assert.match(listing, /1\.1\.1\.1 counter packets 0 bytes 0 comment "one"/);
    assert.match(listing, /2\.2\.2\.2 counter packets 5 bytes 99/);
    assert.deepEqual([...socket.listSets('ip', 'kp')].map(unnumbered), [counted]);
    const zero = { counter: { kind: 'counter', packets: 0n, bytes: 0n } } as const;
    assert.deepEqual(sorted(socket.listElements('ip', 'kp', counted)), [
      element(counted, ['1.1.1.1'], { comment: 'one', ...zero }),
      element(counted, ['2.2.2.2'], { counter }),
    ]);
    script(
      'add map ip kp made { type ipv4_addr : verdict; counter; elements = { 3.3.3.3 counter packets 7 bytes 8 : accept } }',
    );
    const made = [...socket.listSets('ip', 'kp')].find(({ name }) => name === 'made');
    assert.equal(made?.counter, true);
    assert.deepEqual(made && [...socket.listElements('ip', 'kp', made)].map(found => found.counter), [
      { kind: 'counter', packets: 7n, bytes: 8n },
    ]);
  }));
