import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, encoded } from '../../../../test/support/wire-case.ts';
import { MessageWriter } from '../../netlink/index.ts';
import type { Expression } from './expression.ts';
import { decodeExpressions, encodeExpressions, printExpressions } from './expressions.ts';

test('KERNEL-1 a list of expressions is a nested attribute of the given type', () => {
  const writer = new MessageWriter();
  encodeExpressions(writer, 4, [{ kind: 'counter' }, { kind: 'notrack' }]);
  const expected = '28000480 14000180 0c000100636f756e74657200 04000280 10000180 0c0001006e6f747261636b00';
  assert.equal(writer.bytes.toString('hex'), expected.replaceAll(' ', ''));
});

test('KERNEL-1 an unknown expression survives decoding and encoding', () => {
  const hex = '20000180 070001007274000014000280 0800020000000000 0800010000000001'.replaceAll(' ', '');
  const nodes = decodeExpressions(bytes(hex));
  assert.deepEqual(nodes, [{ kind: 'unknown', name: 'rt', data: bytes('0800020000000000 0800010000000001') }]);
  assert.equal(encoded(nodes), hex);
  assert.deepEqual(printExpressions(nodes), ['[ rt 0x08000200000000000800010000000001 ]']);
});

test('KERNEL-1 an expression with an attribute of a newer kernel is kept completely', () => {
  const known = '24000180 09000100 6d65746100000000 14000280 0800020000000010 0800010000000001';
  const newer = '2c000180 09000100 6d65746100000000 1c000280 0800020000000010 0800010000000001 0800040000000001';
  assert.deepEqual(kinds(known), ['meta']);
  assert.deepEqual(kinds(newer), ['unknown']);
  assert.equal(encoded(decodeExpressions(bytes(newer))), newer.replaceAll(' ', ''));
});

test('KERNEL-1 an expression with an unknown key is kept as unknown', () => {
  const key99 = '24000180 09000100 6d65746100000000 14000280 0800020000000063 0800010000000001';
  assert.deepEqual(kinds(key99), ['unknown']);
});

test('KERNEL-1 decodes a bitwise expression without an operation, as kernels before 5.6 send it', () => {
  const hex =
    '44000180 0c0001006269747769736500 34000280 0800010000000001 0800020000000001 0800030000000004 0c000480 08000100fff00000 0c000580 0800010000000000';
  assert.deepEqual(decodeExpressions(bytes(hex)), [
    { kind: 'bitwise', sreg: 1, dreg: 1, mask: bytes('fff00000'), xor: bytes('00000000') },
  ]);
});

test('KERNEL-1 a decoded nat expression leaves out attributes that the kernel adds to its listing', () => {
  // addr_min reg 1 addr_max reg 1 proto_min reg 2 proto_max reg 2 flags 0x3, for `dnat to 10.0.0.1:8080`
  const listed =
    '48000180 080001006e617400 3c000280 0800010000000001 0800020000000002 0800030000000001 0800040000000001 0800050000000002 0800060000000002 0800070000000003';
  assert.deepEqual(decodeExpressions(bytes(listed)), [
    { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1, protoMin: 2 },
  ]);
});

test('KERNEL-1 the expressions of a dynset inside a dynset are kept as unknown', () => {
  const inner: Expression = { kind: 'dynset', op: 'add', set: 's', sregKey: 1, expressions: [{ kind: 'counter' }] };
  const outer: Expression = { ...inner, expressions: [inner] };
  assert.deepEqual(decodeExpressions(bytes(encoded([inner]))), [inner]);
  const [decoded] = decodeExpressions(bytes(encoded([outer])));
  assert.ok(decoded?.kind === 'dynset');
  assert.deepEqual(
    decoded.expressions?.map(({ kind }) => kind),
    ['unknown'],
  );
  assert.equal(encoded([decoded]), encoded([outer]));
});

function kinds(hex: string): string[] {
  return decodeExpressions(bytes(hex)).map(({ kind }) => kind);
}
