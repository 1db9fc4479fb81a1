import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../../../net/index.ts';
import { printExpressions } from '../expressions.ts';
import * as nft from './index.ts';

test('KERNEL-1 a concatenation uses consecutive registers, and each part begins at a new word', () => {
  const parts = [nft.ipDaddr('ip'), nft.metaL4proto, nft.thDport, nft.numgen('random', 3)];
  assert.deepEqual(printExpressions(nft.concat(parts)), [
    '[ payload load 4b @ network header + 16 => reg 1 ]',
    '[ meta load l4proto => reg 9 ]',
    '[ payload load 2b @ transport header + 2 => reg 10 ]',
    '[ numgen reg 11 = random mod 3 ]',
  ]);
  assert.equal(nft.concatBytes(parts), 16);
  assert.equal(nft.concatBytes([nft.thDport]), 2);
});

test('KERNEL-1 an IPv6 address occupies four words, and data begin in the next register of sixteen bytes', () => {
  const rule = nft.updateElement('m', [nft.ipSaddr('ip6'), nft.metaL4proto], { data: [nft.thDport], timeout: 5000 });
  assert.deepEqual(printExpressions(rule), [
    '[ payload load 16b @ network header + 8 => reg 1 ]',
    '[ meta load l4proto => reg 2 ]',
    '[ payload load 2b @ transport header + 2 => reg 3 ]',
    '[ dynset update reg_key 1 set m sreg_data 3 timeout 5000ms ]',
  ]);
});

test('KERNEL-1 a map loads address and port into neighbouring registers', () => {
  assert.deepEqual(printExpressions(nft.dnatToMap('ip6', [nft.numgen('inc', 2)], 'endpoints')), [
    '[ numgen reg 1 = inc mod 2 ]',
    '[ lookup reg 1 set endpoints dreg 1 ]',
    '[ nat dnat ip6 addr_min reg 1 proto_min reg 2 flags 0x2 ]',
  ]);
});

test('KERNEL-1 a prefix of whole bytes loads only these bytes, any other prefix needs a mask', () => {
  const [whole, part] = [parseCidr('10.244.0.0/16'), parseCidr('10.96.0.0/12')];
  assert.ok(whole && part);
  assert.deepEqual(printExpressions(nft.matchAddress('saddr', whole, 'neq')), [
    '[ payload load 2b @ network header + 12 => reg 1 ]',
    '[ cmp neq reg 1 0x0000f40a ]',
  ]);
  assert.deepEqual(printExpressions(nft.matchAddress('saddr', part)), [
    '[ payload load 4b @ network header + 12 => reg 1 ]',
    '[ bitwise reg 1 = ( reg 1 & 0x0000f0ff ) ^ 0x00000000 ]',
    '[ cmp eq reg 1 0x0000600a ]',
  ]);
});

test('KERNEL-1 a lookup in an anonymous set has its id', () => {
  assert.deepEqual(nft.matchSet([nft.thDport], { name: '__set%d', id: 5 }, 'neq').at(-1), {
    kind: 'lookup',
    set: '__set%d',
    setId: 5,
    sreg: 1,
    inverted: true,
  });
});

test('KERNEL-1 refuses keys that are too long, unknown protocols and names that are too long', () => {
  const long = Array.from({ length: 5 }, () => nft.ipSaddr('ip6'));
  assert.throws(() => nft.concat(long), RangeError);
  assert.throws(() => nft.concat([...long.slice(0, 3), nft.thDport, nft.ipSaddr('ip6')]), RangeError);
  assert.throws(() => nft.concat([nft.thDport], 0), RangeError);
  assert.throws(() => nft.matchL4proto('nonesuch'), RangeError);
  assert.throws(() => nft.matchIifname('sixteen-letters-'), RangeError);
});
