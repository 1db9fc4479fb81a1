import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNamespace, refused } from '../../../test/support/nft-lab.ts';
import {
  address,
  assertHoldsEverything,
  cidrs,
  element,
  elements,
  everything,
  marks,
  services,
  table,
} from '../../../test/support/nft-ruleset.ts';
import { type Chain, type Element, type Rule, Transaction } from './index.ts';

test('KERNEL-11 an error has the command and the attribute of every refusal', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(everything());
    const missing: Chain = { kind: 'chain', name: 'missing' };
    const jump: Rule = {
      kind: 'rule',
      chain: 'pick',
      expressions: [{ kind: 'verdict', verdict: { kind: 'jump', chain: 'nowhere' } }],
    };
    const transaction = new Transaction('ip', 'kp').delete(missing).create(marks).add(jump).create(table);
    const error = await refused(socket.commit(transaction));
    assert.equal(error.code, 'KERNEL_REFUSED');
    assert.equal(error.message, 'delete chain ip kp missing: ENOENT (chain ip kp missing, attribute NFTA_CHAIN_NAME)');
    assert.deepEqual(
      error.failures.map(({ command, error }) => [command, error.errno, error.operation, error.attribute]),
      [
        [transaction.commands[0], 'ENOENT', 'delete chain ip kp missing', 'NFTA_CHAIN_NAME'],
        [transaction.commands[1], 'EEXIST', 'create map ip kp marks { type mark : ipv4_addr ; }', 'NFTA_SET_NAME'],
        [transaction.commands[2], 'ENOENT', 'add rule ip kp pick jump nowhere', 'NFTA_RULE_EXPRESSIONS[0]'],
        [
          transaction.commands[3],
          'EEXIST',
          'create table ip kp { comment "rules for kube-proxy" ; }',
          'NFTA_TABLE_NAME',
        ],
      ],
    );
    assertHoldsEverything(socket);
  }));

test('KERNEL-11 an error about one of many elements names that element', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(everything());
    const many = Array.from({ length: 3000 }, (_, i) =>
      element(services, [`10.97.${i >> 8}.${i & 255}`, 'tcp', 80], { verdict: { kind: 'drop' } }),
    );
    const [taken] = elements.get(services) ?? [];
    assert.ok(taken);
    const clash: Element = { ...taken, verdict: { kind: 'accept' } };
    const transaction = new Transaction('ip', 'kp').addElements(services, [...many, clash, ...many.slice(0, 3)]);
    const error = await refused(socket.commit(transaction));
    assert.equal(error.failures.length, 1);
    assert.equal(error.failures[0]?.element, clash);
    assert.equal(
      error.operation,
      'add element ip kp services { 10.96.0.10 . tcp . 80 comment "default/web" : accept }',
    );
    assert.equal(error.errno, 'EEXIST');
    assert.equal(error.object, 'map ip kp services element 10.96.0.10 . tcp . 80');
    assert.match(error.attribute ?? '', /^NFTA_SET_ELEM_LIST_ELEMENTS\[\d+\]$/);
  }));

test('KERNEL-11 an error about one of many ranges names the range, although the kernel has two elements for each', () =>
  inNamespace(async ({ socket }) => {
    await socket.commit(everything());
    const [zero, one, ten] = elements.get(cidrs) ?? [];
    assert.ok(zero && one && ten);
    const absent = element(cidrs, ['99.0.0.0'], { keyEnd: address('99.0.0.255') });
    const transaction = new Transaction('ip', 'kp').deleteElements(cidrs, [zero, one, absent, ten]);
    const error = await refused(socket.commit(transaction));
    assert.equal(error.failures[0]?.element, absent);
    assert.equal(error.operation, 'delete element ip kp cidrs { 99.0.0.0/24 }');
    assertHoldsEverything(socket);
  }));
