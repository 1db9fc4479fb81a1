import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flag, MessageWriter } from './writer.ts';

test('KERNEL-1 a message has a header, a structure, and attributes with padding and nesting', () => {
  const writer = new MessageWriter(4).begin(0x0a00, Flag.REQUEST | Flag.CREATE, 7).struct(Buffer.from([2, 0, 0, 0]));
  writer.string(1, 'kp').u32BE(2, 0x01020304).u8(3, 9).u16(4, 0x0102);
  const nest = writer.nest(5);
  writer.data(1, Buffer.from([0xaa]));
  writer.close(nest).flag(6).end();
  const expected = [
    '44000000 000a 0104 07000000 00000000', // length 68, type, flags, sequence, port
    '02000000', // structure
    '0700 0100 6b7000 00', // "kp"
    '0800 0200 01020304', // network byte order
    '0500 0300 09 000000',
    '0600 0400 0201 0000',
    '0c00 0580 0500 0100 aa 000000', // nested bit set
    '0400 0600',
  ];
  assert.equal(writer.bytes.toString('hex'), expected.join('').replaceAll(' ', ''));
  assert.equal(writer.messageCount, 1);
});

test('KERNEL-1 refuses an attribute that is too long for its 16-bit length field', () => {
  const writer = new MessageWriter().begin(1, 0, 1);
  assert.throws(() => writer.data(1, Buffer.alloc(65532)), RangeError);
  const nest = writer.nest(1);
  for (let i = 0; i < 20; i++) writer.data(2, Buffer.alloc(4000));
  assert.throws(() => writer.close(nest), RangeError);
});
