import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeAbstractSocket, encodeRequest } from './unix-sockets.ts';

/** What the kernel answered for a socket of uid 65534: stream, closed, inode 0x12d4. */
const ANSWER = '01010700d412000001100000000000000800000000616263050006000000000008000700feff0000';

test('KERNEL-1 a request for unix sockets has the bytes of struct unix_diag_req', () => {
  assert.equal(encodeRequest().toString('hex'), '01000000ffffffff0000000041000000ffffffffffffffff');
});

test('KERNEL-2 the answer has the name, the inode and the user of an abstract socket', () => {
  const bytes = Buffer.from(ANSWER, 'hex');
  assert.deepEqual(decodeAbstractSocket(bytes), { name: 'abc', inode: 0x12d4, uid: 65534 });
  const withoutUser = bytes.subarray(0, bytes.length - 8);
  assert.deepEqual(decodeAbstractSocket(withoutUser), { name: 'abc', inode: 0x12d4, uid: undefined });
});

test('KERNEL-2 sockets without an abstract name, of other types, and answers that are cut short are ignored', () => {
  const changed = (offset: number, value: number) => {
    const bytes = Buffer.from(ANSWER, 'hex');
    bytes[offset] = value;
    return decodeAbstractSocket(bytes);
  };
  assert.deepEqual([changed(0, 2), changed(1, 2), changed(20, 0x2f), changed(18, 9)], Array(4).fill(undefined));
  for (let length = 0; length < 24; length++) {
    assert.equal(decodeAbstractSocket(Buffer.from(ANSWER, 'hex').subarray(0, length)), undefined);
  }
  fc.assert(fc.property(fc.uint8Array(), bytes => void decodeAbstractSocket(Buffer.from(bytes))));
});
