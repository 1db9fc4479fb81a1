import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { Flag, MessageWriter } from '../netlink/index.ts';
import { CtMessage } from './attributes.ts';
import { encodeIdentity, type FlowIdentity, printIdentity } from './identity.ts';
import { L4 } from './protocol.ts';

const dns: FlowIdentity = {
  family: 'IPv4',
  protocol: L4.UDP,
  original: { src: '10.0.0.1' as Ip, dst: '10.96.0.1' as Ip, srcPort: 1000, dstPort: 53 },
};

function bytesOf(type: number, flow: FlowIdentity): string {
  const writer = new MessageWriter().begin(type, Flag.REQUEST | Flag.ACK, 1);
  encodeIdentity(writer, flow);
  return writer.end().bytes.toString('hex');
}

const TUPLE =
  '34000180 14000180 08000100 0a000001 08000200 0a600001 1c000280 05000100 11000000 06000200 03e80000 06000300 00350000';
const hex = (text: string) => text.replaceAll(' ', '');

test('KERNEL-1 getting one flow sends the bytes of conntrack -G', () => {
  assert.equal(bytesOf(CtMessage.GET, dns), hex(`48000000 0101 0500 01000000 00000000 02000000 ${TUPLE}`));
});

test('KERNEL-1 a delete request names the original tuple, the id and the zone', () => {
  assert.equal(
    bytesOf(CtMessage.DELETE, { ...dns, id: 0x4b32ce30, zone: 3 }),
    hex(`58000000 0201 0500 01000000 00000000 02000000 ${TUPLE} 08000c00 4b32ce30 06001200 00030000`),
  );
});

test('KERNEL-4 a flow identity prints as the conntrack command that does the same', () => {
  assert.equal(
    printIdentity('-D', { ...dns, zone: 3 }),
    'conntrack -D -f ipv4 -p udp -s 10.0.0.1 -d 10.96.0.1 --sport 1000 --dport 53 -w 3',
  );
  const original = { ...dns.original, srcPort: 0, dstPort: 0 };
  const icmp = { type: 8, code: 0, id: 77 };
  assert.equal(
    printIdentity('-G', { ...dns, protocol: L4.ICMP, original: { ...original, icmp } }),
    'conntrack -G -f ipv4 -p icmp -s 10.0.0.1 -d 10.96.0.1 --icmp-type 8 --icmp-code 0 --icmp-id 77',
  );
  assert.equal(printIdentity('-D', { ...dns, protocol: 4 }), 'conntrack -D -f ipv4 -p 4 -s 10.0.0.1 -d 10.96.0.1');
});
