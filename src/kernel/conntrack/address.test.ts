import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipFromBytes } from '../../net/index.ts';
import { readIpv4, readIpv6 } from './address.ts';

/** Among 4000 addresses in 16384 slots, hundreds share a slot. The test reads each address twice, in two rounds. */
const COUNT = 4000;

test('KERNEL-1 two addresses that share a cache slot are never confused', () => {
  const bytes = Buffer.from('fd000000000000000000000000000000', 'hex');
  for (let round = 0; round < 2; round++) {
    for (let number = 0; number < COUNT; number++) {
      bytes.writeUInt16BE(number & 0xff, 2);
      bytes.writeUInt32BE(Math.imul(number, 0x10003) >>> 0, 12);
      const [v4, v6] = [ipFromBytes(bytes.subarray(12)), ipFromBytes(bytes)];
      for (let again = 0; again < 2; again++) {
        assert.equal(readIpv4(bytes, 12), v4);
        assert.equal(readIpv6(bytes, 0), v6);
      }
    }
  }
});
