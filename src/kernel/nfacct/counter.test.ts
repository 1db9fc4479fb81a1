import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageWriter } from '../netlink/index.ts';
import { decodeCounter, encodeName, NfacctMessage } from './counter.ts';

function attribute(type: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc((4 + value.length + 3) & ~3);
  bytes.writeUInt16LE(4 + value.length, 0);
  bytes.writeUInt16LE(type, 2);
  value.copy(bytes, 4);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

const HEAD = Buffer.alloc(4);
const NAME = attribute(1, Buffer.from('drops\0'));
const PACKETS = attribute(2, u64(7n));
const BYTES = attribute(3, u64(1n << 40n));

test("KERNEL-1 a request contains the counter's name and a zero byte", () => {
  const writer = new MessageWriter().begin(NfacctMessage.GET, 5, 9);
  encodeName(writer, 'drops');
  assert.equal(
    writer.end().bytes.toString('hex'),
    '20000000' + '0107' + '0500' + '09000000' + '00000000' + '00000000' + '0a000100' + '64726f707300' + '0000',
  );
});

test('KERNEL-1 an answer has name, packets and bytes, and the decoder skips unknown attributes', () => {
  const counter = { name: 'drops', packets: 7n, bytes: 1n << 40n };
  assert.deepEqual(decodeCounter(Buffer.concat([HEAD, NAME, PACKETS, BYTES])), counter);
  const use = attribute(4, Buffer.from([0, 0, 0, 1]));
  const pad = attribute(99, Buffer.from('?'));
  assert.deepEqual(decodeCounter(Buffer.concat([HEAD, use, pad, NAME, PACKETS, BYTES])), counter);
});

test('KERNEL-2 an answer that lacks name, packets or bytes, or is cut short, decodes to no counter', () => {
  for (const parts of [[], [NAME], [NAME, PACKETS], [NAME, BYTES], [PACKETS, BYTES]]) {
    assert.equal(decodeCounter(Buffer.concat([HEAD, ...parts])), undefined);
  }
  const whole = Buffer.concat([HEAD, NAME, PACKETS, BYTES]);
  for (let length = 0; length < whole.length - 1; length++) {
    assert.equal(decodeCounter(whole.subarray(0, length)), undefined, `${length} bytes`);
  }
});

test('KERNEL-2 random bytes never make the decoder throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), bytes => void decodeCounter(Buffer.from(bytes))));
});
