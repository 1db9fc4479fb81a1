import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, item, struct, u8, u16, u32, u64 } from './struct.ts';
import { StructBytes, untilZero } from './struct-bytes.ts';

const Example = struct({ a: u8, b: u16, c: [u32, 2], d: u64, text: [u8, 6], e: u16 });

test('BPF-5 fields are at the offsets at which C has them', () => {
  const places = Object.values(Example).map(({ name, offset, size, count }) => [name, offset, size, count]);
  assert.deepEqual(places, [
    ['a', 0, 1, 1],
    ['b', 2, 2, 1],
    ['c', 4, 4, 2],
    ['d', 16, 8, 1],
    ['text', 24, 1, 6],
    ['e', 30, 2, 1],
  ]);
  assert.equal(bytesOf(Example), 32);
  assert.deepEqual(item(Example.c, 1), { name: 'c[1]', offset: 8, size: 4, count: 1 });
});

test('BPF-5 a structure ends with the padding that C adds', () => {
  assert.equal(bytesOf(struct({ a: u64, b: u8 })), 16);
  assert.equal(bytesOf(struct({ a: [u8, 3] })), 3);
  assert.equal(bytesOf(struct({})), 0);
});

test('BPF-5 values are written in the order of the machine, and all other bytes are zero', () => {
  const { bytes } = new StructBytes(Example, { a: 1, b: 0x0203, d: 0x0405060708090a0bn, text: 'ab' });
  assert.equal(
    bytes.toString('hex'),
    '01000302' + '0000000000000000' + '00000000' + '0b0a090807060504' + '6162000000000000',
  );
});

test('BPF-5 a text keeps a zero at its end', () => {
  const record = new StructBytes(Example, { text: 'abcdefgh', e: 0xffff });
  assert.equal(record.text('text'), 'abcde');
  assert.equal(record.number('e'), 0xffff);
});

test('BPF-5 what was written is read', () => {
  const record = new StructBytes(Example, { a: 255, b: 65535, d: 2n ** 64n - 1n });
  assert.deepEqual([record.number('a'), record.number('b'), record.big('d')], [255, 65535, 2n ** 64n - 1n]);
  assert.equal(new StructBytes(Example, { d: 4711 }).number('d'), 4711);
});

test('BPF-5 a text without a zero is all of its bytes', () => {
  assert.equal(untilZero(Buffer.from('abc')), 'abc');
  assert.equal(untilZero(Buffer.from('ab\0c')), 'ab');
});
