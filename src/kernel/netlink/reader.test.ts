import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeAck, MessageType } from './ack.ts';
import {
  asString,
  asU16,
  asU16BE,
  asU32,
  asU32BE,
  asU64,
  asU64BE,
  attributeMap,
  readAttributes,
  readMessages,
} from './reader.ts';
import { MessageWriter } from './writer.ts';

describe('reading', () => {
  test('KERNEL-1 the reader returns what the writer wrote', () => {
    const writer = new MessageWriter().begin(9, 5, 42).struct(Buffer.from([1, 2, 3, 4]));
    writer
      .string(1, 'über')
      .u16(2, 515)
      .u32(3, 0xdeadbeef)
      .u64(4, 1n << 40n)
      .u16BE(5, 515)
      .u32BE(6, 7)
      .u64BE(7, 8n);
    const nest = writer.nest(8);
    writer.u32(1, 99).close(nest).end();
    const [message] = [...readMessages(writer.bytes)];
    assert.ok(message);
    assert.deepEqual([message.type, message.flags, message.sequence], [9, 5, 42]);
    const values = attributeMap(message.body, 4);
    assert.equal(asString(values.get(1)), 'über');
    assert.deepEqual([asU16(values.get(2)), asU32(values.get(3)), asU64(values.get(4))], [515, 0xdeadbeef, 1n << 40n]);
    assert.deepEqual([asU16BE(values.get(5)), asU32BE(values.get(6)), asU64BE(values.get(7))], [515, 7, 8n]);
    assert.equal(asU32(attributeMap(values.get(8) ?? Buffer.alloc(0)).get(1)), 99);
  });

  test('KERNEL-2 a missing or too short value is undefined', () => {
    const short = Buffer.from([1]);
    for (const read of [asU16, asU32, asU64, asU16BE, asU32BE, asU64BE]) {
      assert.equal(read(short), undefined);
      assert.equal(read(undefined), undefined);
    }
  });

  test('KERNEL-3 an acknowledgement has the errno, the message, the offset and the missing attribute', () => {
    const writer = new MessageWriter().begin(MessageType.ERROR, 0x300, 3);
    const error = Buffer.alloc(20);
    error.writeInt32LE(-22, 0);
    writer.struct(error).string(1, 'no good').u32(2, 44).u32(5, 6).end();
    const [message] = [...readMessages(writer.bytes)];
    assert.ok(message);
    assert.deepEqual(decodeAck(message), { sequence: 3, errno: 'EINVAL', message: 'no good', offset: 44, missing: 6 });
  });

  test('KERNEL-2 random bytes never make the readers throw or loop forever', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
        const buffer = Buffer.from(bytes);
        for (const message of readMessages(buffer)) decodeAck(message);
        assert.ok([...readAttributes(buffer)].length <= buffer.length / 4);
      }),
      { numRuns: 2000 },
    );
  });

  test('KERNEL-2 a message whose length field is too small or too large ends the reading', () => {
    for (const length of [0, 15, 1000]) {
      const bytes = Buffer.alloc(32);
      bytes.writeUInt32LE(length, 0);
      assert.deepEqual([...readMessages(bytes)], []);
    }
  });
});
