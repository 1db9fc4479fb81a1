import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { Flag, MessageWriter } from '../netlink/index.ts';
import { CtMessage } from './attributes.ts';
import { encodeFilter, encodePlainFilter, type FlowFilter, isPlain, matches, printFilter } from './filter.ts';
import type { Flow } from './flow.ts';
import { L4 } from './protocol.ts';

function bytesOf(filter: FlowFilter, encode = encodeFilter): string {
  const writer = new MessageWriter().begin(CtMessage.GET, Flag.REQUEST | Flag.DUMP, 1);
  encode(writer, filter);
  return writer.end().bytes.toString('hex');
}

const hex = (text: string) => text.replaceAll(/\s/g, '');
const ip = (text: string) => text as Ip;

test('KERNEL-1 listing all flows, one family or one mark sends the bytes of conntrack -L', () => {
  assert.equal(bytesOf({}), hex('14000000 0101 0103 01000000 00000000 00000000'));
  assert.equal(bytesOf({ family: 'IPv6' }), hex('14000000 0101 0103 01000000 00000000 0a000000'));
  assert.equal(
    bytesOf({ mark: { value: 5, mask: 7 } }),
    hex('24000000 0101 0103 01000000 00000000 00000000 08000800 00000005 08001500 00000007'),
  );
});

test('KERNEL-1 asks the kernel to compare protocol, address and port of a direction', () => {
  const filter: FlowFilter = { protocol: L4.UDP, original: { dst: ip('10.96.0.1'), dstPort: 53 } };
  const expected = `4c000000 0101 0103 01000000 00000000 02000000 14001980 08000100 2a000000 08000200 00000000
    24000180 0c000180 08000200 0a600001 14000280 05000100 11000000 06000300 00350000`;
  assert.equal(bytesOf(filter), hex(expected));
  assert.equal(isPlain(filter), false);
  assert.equal(bytesOf(filter, encodePlainFilter), bytesOf({ family: 'IPv4' }));
});

test('KERNEL-1 asks the kernel to compare the reply direction and the zone', () => {
  const filter: FlowFilter = { family: 'IPv4', protocol: L4.UDP, reply: { srcPort: 5353 }, zone: 3 };
  const expected = `06001200 00030000 14001980 08000100 08000000 08000200 18000000
    14000180 04000180 0c000280 05000100 11000000
    1c000280 04000180 14000280 05000100 11000000 06000200 14e90000`;
  assert.equal(bytesOf(filter).slice(40), hex(expected));
});

test('KERNEL-1 never asks the kernel to compare IPv6 addresses, ports without a protocol, or tuples without a family', () => {
  assert.ok(isPlain({ original: { dst: ip('fd00::1') } }));
  assert.ok(isPlain({ family: 'IPv4', original: { dst: ip('fd00::1') } }));
  assert.ok(isPlain({ family: 'IPv4', original: { dstPort: 53 } }));
  assert.ok(isPlain({ protocol: L4.UDP }));
  assert.ok(!isPlain({ zone: 0 }));
  assert.ok(!isPlain({ family: 'IPv6', protocol: L4.UDP, original: { dst: ip('fd00::1') } }));
});

const flow: Flow = {
  family: 'IPv4',
  protocol: L4.UDP,
  original: { src: ip('10.0.0.1'), dst: ip('10.96.0.1'), srcPort: 1000, dstPort: 53 },
  reply: { src: ip('10.1.0.5'), dst: ip('10.0.0.1'), srcPort: 5353, dstPort: 1000 },
  mark: 0x80000005,
  zone: 3,
};

const matching: FlowFilter[] = [
  {},
  { family: 'IPv4', protocol: L4.UDP, zone: 3 },
  { mark: { value: 0x80000000, mask: 0xf0000000 } },
  { original: { src: ip('10.0.0.1'), dst: ip('10.96.0.1'), srcPort: 1000, dstPort: 53 } },
  { reply: { src: ip('10.1.0.5'), dst: ip('10.0.0.1'), srcPort: 5353, dstPort: 1000 } },
];
for (const filter of matching)
  test(`KERNEL-1 ${printFilter(filter)} matches the flow`, () => assert.ok(matches(filter, flow)));

const different: FlowFilter[] = [
  { family: 'IPv6' },
  { protocol: L4.TCP },
  { zone: 0 },
  { mark: { value: 0, mask: 0x80000000 } },
  { original: { src: ip('10.0.0.2') } },
  { original: { dst: ip('fd00::1') } },
  { original: { srcPort: 1001 } },
  { original: { dstPort: 54 } },
  { reply: { src: ip('10.96.0.1') } },
  { reply: { dst: ip('10.0.0.9') } },
  { reply: { srcPort: 53 } },
  { reply: { dstPort: 1 } },
];
for (const filter of different)
  test(`KERNEL-1 ${printFilter(filter)} does not match the flow`, () => assert.ok(!matches(filter, flow)));

test('KERNEL-4 a filter prints as the arguments of conntrack -L', () => {
  const filter: FlowFilter = {
    protocol: L4.UDP,
    original: { src: ip('10.0.0.1'), dst: ip('10.96.0.1'), srcPort: 1, dstPort: 2 },
    reply: { src: ip('10.0.0.3'), dst: ip('10.0.0.4'), srcPort: 3, dstPort: 4 },
    mark: { value: 1, mask: 255 },
    zone: 0,
  };
  assert.equal(
    printFilter(filter),
    'conntrack -L -f ipv4 -p udp -s 10.0.0.1 -d 10.96.0.1 --sport 1 --dport 2 -r 10.0.0.3 -q 10.0.0.4 --reply-port-src 3 --reply-port-dst 4 -m 1/255 -w 0',
  );
});
