import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../../net/index.ts';
import { cookieAt, decodeRecord, encodeRecord, IpTexts, RECORD_BYTES, type SocketRecord } from './record.ts';
import { stateName } from './tcp-state.ts';

const at = (ip: string, port: number) => ({ ip: ip as Ip, port });

const ips = new IpTexts();

const V4: SocketRecord = {
  namespace: 0x0102n,
  service: at('10.96.0.10', 80),
  endpoint: at('10.244.1.2', 8080),
  countedBy: 258,
  cookie: 0x11223344556677,
  caller: at('10.244.1.9', 40_001),
  state: 1,
};
const V4_BYTES = [
  '04000000 00000000 0201000000000000 0050 1f90 02010000',
  '0a60000a 000000000000000000000000 0af40102 000000000000000000000000',
  '7766554433221100 01 00 419c 00000000 0af40109 000000000000000000000000',
];

const V6: SocketRecord = {
  namespace: 7n,
  service: at('fd00:96::10', 443),
  endpoint: at('fd00:244::2', 8443),
  countedBy: 0,
  cookie: 9,
  caller: at('fd00:244::9', 40_002),
  state: 2,
};
test('SOCKETS-2 a record is 88 bytes, and its bytes are as the iterator writes them', () => {
  assert.equal(RECORD_BYTES, 88);
  assert.equal(encodeRecord(V4).toString('hex'), V4_BYTES.join('').replaceAll(' ', ''));
  assert.deepEqual(decodeRecord(encodeRecord(V4), 0, ips), V4);
  const both = Buffer.concat([encodeRecord(V4), encodeRecord(V6)]);
  assert.deepEqual(decodeRecord(both, RECORD_BYTES, ips), V6);
  assert.equal(cookieAt(both, RECORD_BYTES), 9);
});

test('SOCKETS-2 a record of a socket that forgot its Service meanwhile is left out', () => {
  const bytes = encodeRecord(V4);
  bytes.writeUInt32LE(0, 0);
  assert.equal(decodeRecord(bytes, 0, ips), undefined);
});

test('SOCKETS-1 states have the words of ss', () => {
  assert.deepEqual([1, 2, 8, 12].map(stateName), ['ESTAB', 'SYN-SENT', 'CLOSE-WAIT', 'state 12']);
});
