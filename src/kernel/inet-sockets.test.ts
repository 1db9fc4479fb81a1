import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeInetSocket, encodeRequest } from './inet-sockets.ts';

const ZEROS = (bytes: number) => '00'.repeat(bytes);

test('KERNEL-1 a request for sockets of a port has the bytes of struct inet_diag_req_v2', () => {
  const id = `1f90${ZEROS(38)}ffffffffffffffff`;
  assert.equal(
    encodeRequest({ family: 'IPv4', protocol: 'TCP', port: 8080 }).toString('hex'),
    `02060000 00040000 ${id}`.replaceAll(' ', ''),
  );
  assert.equal(
    encodeRequest({ family: 'IPv6', protocol: 'UDP', port: 8080 }).toString('hex'),
    `0a110000 80000000 ${id}`.replaceAll(' ', ''),
  );
});

/** A listener at [::]:8080 with the inode 0x1234, which accepts IPv6 only. */
const ANSWER = `0a0a0000 1f900000 ${ZEROS(32)} 00000000 01000000 00000000 ${ZEROS(16)} 34120000 05000b0001000000`;

test('KERNEL-2 the answer has the address, the port and the inode of a socket', () => {
  const bytes = Buffer.from(ANSWER.replaceAll(' ', ''), 'hex');
  const expected = { family: 'IPv6', ip: '::', port: 8080, inode: 0x1234, isV6Only: true };
  assert.deepEqual(decodeInetSocket(bytes), expected);
  assert.deepEqual(decodeInetSocket(bytes.subarray(0, 72)), { ...expected, isV6Only: false });
  for (let length = 0; length < 72; length++) assert.equal(decodeInetSocket(bytes.subarray(0, length)), undefined);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), found => void decodeInetSocket(Buffer.from(found))));
});
