import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drop, type Expression, matchL4proto } from '../kernel/nftables/index.ts';
import { isReject, printMixedRule, xtComment } from './xt-expressions.ts';

/** As iptables-nft 1.8.9 writes them. */
const COMMENT: Expression = {
  kind: 'unknown',
  name: 'match',
  data: Buffer.concat([
    Buffer.from('0c000100636f6d6d656e7400', 'hex'),
    Buffer.from('0800020000000000', 'hex'),
    Buffer.from('04010300', 'hex'),
    Buffer.from('default/web:http cluster IP'.padEnd(256, '\0')),
  ]),
};
const REJECT: Expression = {
  kind: 'unknown',
  name: 'target',
  data: Buffer.from('0b00010052454a454354000008000200000000000c0003000300000000000000', 'hex'),
};
const none = () => undefined;

test('TRACE-5 without iptables, a rule of iptables-nft has its comment, and the names of its matches and target', () => {
  const rule = [...matchL4proto('tcp'), COMMENT, REJECT];
  assert.equal(
    printMixedRule('ip', rule, none),
    'meta l4proto tcp comment "default/web:http cluster IP" xt target "REJECT"',
  );
  assert.equal(xtComment(rule), 'default/web:http cluster IP');
  assert.equal(printMixedRule('ip', [...matchL4proto('tcp'), drop], none), 'meta l4proto tcp drop');
});

test('TRACE-5 unknown expressions stay as they are, and bytes that are cut short never throw', () => {
  const unknown: Expression = { kind: 'unknown', name: 'newer', data: Buffer.of(1) };
  assert.equal(printMixedRule('ip', [unknown], none), '[ newer 0x01 ]');
  const bytes = COMMENT.kind === 'unknown' ? (COMMENT.data ?? Buffer.alloc(0)) : Buffer.alloc(0);
  for (let length = 0; length < 40; length++) {
    xtComment([{ kind: 'unknown', name: 'match', data: bytes.subarray(0, length) }]);
  }
});

test('TRACE-6 the target REJECT rejects, as the statement of nft does', () => {
  assert.ok(isReject(REJECT));
  assert.ok(isReject({ kind: 'reject', type: 'icmp', code: 3 }));
  assert.ok(!isReject(COMMENT));
  assert.ok(!isReject(drop));
});
