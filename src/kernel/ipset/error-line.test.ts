import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageType, readMessages } from '../netlink/index.ts';
import { decodeErrorLine } from './error-line.ts';

/** The answer of Linux 6.18 to an `ipset restore` whose line 4 adds the same entry as line 3. */
const answer = Buffer.from(
  `e4000000 0200 0000 a070f96a da360000 f9efffff d0000000 0906 0502 a070f96a 00000000 02000000 05000100 07060506
   06000200 41000000 08000940 00000004 a4000880
   28000780 0c000180 08000140 0a000001 06000440 00500000 05000700 06000000 08000940 00000002
   28000780 0c000180 08000140 0a000002 06000440 00500000 05000700 06000000 08000940 00000003
   28000780 0c000180 08000140 0a000002 06000440 00500000 05000700 06000000 08000940 00000004
   28000780 0c000180 08000140 0a000003 06000440 00500000 05000700 06000000 08000940 00000005`.replaceAll(/\s/g, ''),
  'hex',
);

const lines = (datagram: Buffer) => Array.from(readMessages(datagram), decodeErrorLine);

test('KERNEL-1 reads the line of the refused entry from the error', () => assert.deepEqual(lines(answer), [4]));

test('KERNEL-1 an error without the request, or for a message without lines, has no line', () => {
  const capped = Buffer.from(answer.subarray(0, 36));
  capped.writeUInt32LE(36, 0);
  assert.deepEqual(lines(capped), [undefined]);
  const zero = Buffer.from(answer);
  zero.writeUInt32BE(0, zero.indexOf('0800094000000004', 'hex') + 4);
  assert.deepEqual(lines(zero), [undefined]);
});

test('KERNEL-2 random and changed bytes never make the decoder throw', () => {
  const message = (body: Uint8Array) => ({ type: MessageType.ERROR, flags: 0, sequence: 1, body: Buffer.from(body) });
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), bytes => void decodeErrorLine(message(bytes))));
  const change = fc.record({ at: fc.integer({ min: 16, max: 227 }), byte: fc.integer({ min: 0, max: 255 }) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 5 }), changes => {
      const bytes = Buffer.from(answer);
      for (const { at, byte } of changes) bytes[at] = byte;
      decodeErrorLine(message(bytes.subarray(16)));
    }),
  );
});
