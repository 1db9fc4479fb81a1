import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destinationText, fingerprintOf, readHeaders, sourceText } from './packet-headers.ts';

const IPV4 = Buffer.from('4500003c1c4640004006b1e60af401c80a60000a', 'hex');
const IPV6 = Buffer.from('6000000000140640fd000010024400010000000000000200fd000010009600000000000000000120', 'hex');
const SYN = Buffer.from('a0f2005000000001000000005002ffff00000000', 'hex');
const SYN_ACK = Buffer.from('0050a0f200000009000000025012ffff00000000', 'hex');

test('TRACE-4 addresses, ports and flags are read from the headers', () => {
  const v4 = readHeaders(IPV4, SYN);
  assert.ok(v4);
  assert.equal(sourceText(v4), '10.244.1.200:41202');
  assert.equal(destinationText(v4), '10.96.0.10:80');
  assert.equal(v4.tcpFlags, 'SYN');
  const v6 = readHeaders(IPV6, SYN_ACK);
  assert.ok(v6);
  assert.equal(sourceText(v6), '[fd00:10:244:1::200]:80');
  assert.equal(destinationText(v6), '[fd00:10:96::120]:41202');
  assert.equal(v6.tcpFlags, 'SYN,ACK');
});

test('TRACE-4 a protocol without ports has addresses only', () => {
  const icmp = Buffer.from(IPV4);
  icmp[9] = 1;
  const headers = readHeaders(icmp, Buffer.from('0800', 'hex'));
  assert.ok(headers);
  assert.equal(headers.protocol, 'icmp');
  assert.equal(destinationText(headers), '10.96.0.10');
});

test('TRACE-4 headers that are cut short are none', () => {
  for (let length = 0; length < 20; length++) assert.equal(readHeaders(IPV4.subarray(0, length), SYN), undefined);
  for (let length = 0; length < 40; length++) assert.equal(readHeaders(IPV6.subarray(0, length), SYN), undefined);
  for (let length = 0; length < SYN.length; length++) readHeaders(IPV4, SYN.subarray(0, length));
});

test('TRACE-4 a fingerprint differs between packets of a connection, and not by the time to live', () => {
  const print = (network: Buffer, transport: Buffer) => {
    const headers = readHeaders(network, transport);
    return headers && fingerprintOf(headers, transport);
  };
  const later = Buffer.from(IPV4);
  later[8] = 63;
  const next = Buffer.from(SYN);
  next.writeUInt32BE(2, 4);
  assert.equal(print(later, SYN), print(IPV4, SYN));
  assert.notEqual(print(IPV4, next), print(IPV4, SYN));
});
