import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { encodeSocketAddress } from './socket-address.ts';

test('KERNEL-1 an IPv4 socket address has family, port and address', () => {
  const bytes = encodeSocketAddress('10.96.0.10' as Ip, 8080);
  assert.equal(bytes.toString('hex'), '02001f900a60000a0000000000000000');
});

test('KERNEL-1 an IPv6 socket address has no flow label and no scope', () => {
  const bytes = encodeSocketAddress('fd00:10:96::a' as Ip, 80);
  assert.equal(bytes.toString('hex'), `0a00005000000000${'fd00001000960000000000000000000a'}00000000`);
});

test('KERNEL-1 refuses a port that is out of range', () => {
  assert.throws(() => encodeSocketAddress('10.0.0.1' as Ip, 65536), RangeError);
});
