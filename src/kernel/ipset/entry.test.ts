import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Cidr, type Ip, parseCidr, parseIp } from '../../net/index.ts';
import { attributeMap, MessageWriter, readAttributes } from '../netlink/index.ts';
import {
  decodeEntry,
  type Entry,
  encodeAdded,
  encodeDeleted,
  encodeTested,
  printElement,
  printEntry,
} from './entry.ts';
import { Attr } from './message.ts';
import { L4 } from './port.ts';
import { SET_TYPES } from './set-type.ts';

const hex = (text: string) => text.replaceAll(/\s/g, '');
const ip = (text: string) => text as Ip;

function net(text: string): Cidr {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
}

function dataOf(encode: (writer: MessageWriter) => void): Buffer {
  const writer = new MessageWriter().begin(0, 0, 0);
  encode(writer);
  return Buffer.from(writer.end().bytes.subarray(16));
}

const added = (entry: Entry) => dataOf(writer => encodeAdded(writer, entry, 0));
/** The attributes inside DATA. */
const innerOf = (entry: Entry) => added(entry).subarray(4);

/** Entries, their text in `ipset save`, and the bytes that `ipset add` 7.17 sends. */
const known: [Entry, string, string][] = [
  [
    { kind: 'hash:ip', ip: ip('fd00::1') },
    'fd00::1',
    '24000780 18000180 14000240 fd000000000000000000000000000001 08000940 00000000',
  ],
  [
    { kind: 'hash:ip,port', ip: ip('10.96.0.1'), protocol: L4.TCP, port: 80 },
    '10.96.0.1,tcp:80',
    '28000780 0c000180 08000140 0a600001 06000440 00500000 05000700 06000000 08000940 00000000',
  ],
  [
    { kind: 'hash:ip,port,ip', ip: ip('10.96.0.1'), protocol: L4.SCTP, port: 80, ip2: ip('10.0.0.1') },
    '10.96.0.1,sctp:80,10.0.0.1',
    `34000780 0c000180 08000140 0a600001 06000440 00500000 05000700 84000000 0c001480 08000140 0a000001
     08000940 00000000`,
  ],
  [
    { kind: 'hash:net', net: net('10.0.0.0/8') },
    '10.0.0.0/8',
    '20000780 0c000180 08000140 0a000000 05000300 08000000 08000940 00000000',
  ],
  [{ kind: 'bitmap:port', port: 80 }, '80', '14000780 06000440 00500000 08000940 00000000'],
];
for (const [entry, text, bytes] of known) {
  test(`KERNEL-1 adding ${text} to a ${entry.kind} has the bytes of ipset`, () => {
    assert.equal(added(entry).toString('hex'), hex(bytes));
    assert.equal(printEntry(entry), text);
    assert.deepEqual(decodeEntry(entry.kind, innerOf(entry)), entry);
  });
}

const rich: Entry = {
  kind: 'hash:ip,port,net',
  ip: ip('fd00::1'),
  protocol: L4.UDP,
  port: 53,
  net: net('fd01::/64'),
  timeout: 20,
  packets: 3n,
  bytes: 9n,
  comment: 'hi',
};

test('KERNEL-1 the extensions of an entry have the attributes of ipset, but in another order', () => {
  const theirs = hex(`18000180 14000240 fd000000000000000000000000000001 06000440 00350000 08000640 00000014
    05000700 11000000 18001480 14000240 fd010000000000000000000000000000 05001500 40000000
    0c001840 0000000000000009 0c001940 0000000000000003 07001a00 68690000 08000940 00000000`);
  const sorted = (data: Buffer) =>
    Array.from(readAttributes(data), ({ type, value, offset }) => [
      type,
      data.readUInt16LE(offset + 2),
      value.toString('hex'),
    ]).sort(([a = 0], [b = 0]) => Number(a) - Number(b));
  assert.deepEqual(sorted(innerOf(rich)), sorted(Buffer.from(theirs, 'hex')));
  assert.equal(printEntry(rich), 'fd00::1,udp:53,fd01::/64 timeout 20 packets 3 bytes 9 comment "hi"');
});

test('KERNEL-1 nomatch has the flag of ipset', () => {
  const entry: Entry = { kind: 'hash:net', net: net('10.0.0.0/8'), nomatch: true };
  assert.ok(added(entry).toString('hex').includes('0800084000000004'));
  assert.equal(printEntry(entry), '10.0.0.0/8 nomatch');
});

test('KERNEL-1 a request to delete or test an entry leaves out its extensions', () => {
  const plain = dataOf(writer => encodeDeleted(writer, rich, 0)).toString('hex');
  const { timeout: _, packets: _p, bytes: _b, comment: _c, ...element } = rich;
  assert.equal(plain, added(element).toString('hex'));
  const tested = dataOf(writer => encodeTested(writer, rich));
  assert.deepEqual([...attributeMap(tested).keys()], [Attr.DATA]);
  assert.equal(plain.slice(8), `${tested.toString('hex').slice(8)}0800094000000000`);
});

test('KERNEL-1 a network of one address is the same with and without a prefix length', () => {
  const [v4, v6] = [net('10.0.0.1/32'), net('fd00::1/128')];
  assert.equal(printElement({ kind: 'hash:net', net: v4 }), '10.0.0.1');
  assert.equal(printElement({ kind: 'hash:net', net: v6 }), 'fd00::1');
  const bare = dataOf(writer => encodeTested(writer, { kind: 'hash:ip', ip: ip('10.0.0.1') })).subarray(4);
  assert.deepEqual(decodeEntry('hash:net', bare), { kind: 'hash:net', net: v4 });
});

test('KERNEL-1 prints ICMP with type and code, and a protocol without a name as a number', () => {
  const at = { kind: 'hash:ip,port', ip: ip('10.0.0.1') } as const;
  assert.equal(printElement({ ...at, protocol: L4.ICMP, port: 0x0800 }), '10.0.0.1,icmp:8/0');
  assert.equal(printElement({ ...at, protocol: 47, port: 0 }), '10.0.0.1,47:0');
});

const anyIp = fc
  .oneof(fc.ipV4(), fc.ipV6())
  .map(text => parseIp(text))
  .filter(parsed => parsed !== undefined);
const anyNet = fc
  .tuple(anyIp, fc.nat(128))
  .map(([address, prefix]) => parseCidr(`${address}/${prefix}`))
  .filter(cidr => cidr !== undefined);
const u16 = fc.integer({ min: 0, max: 0xffff });
const u8 = fc.integer({ min: 0, max: 0xff });
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const extensions = {
  timeout: fc.integer({ min: 0, max: 0xffffffff }),
  packets: u64,
  bytes: u64,
  comment: fc.stringMatching(/^[ -~]{0,20}$/),
  nomatch: fc.constant(true),
};
/** Makes records with some of the extensions. They have a prototype as literals have, because deepEqual compares it. */
const entryOf = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc
    .tuple(
      fc.record(model, { noNullPrototype: true }),
      fc.record(extensions, { requiredKeys: [], noNullPrototype: true }),
    )
    .map(([element, extended]) => ({ ...element, ...extended }));
const anyEntry: fc.Arbitrary<Entry> = fc.oneof(
  entryOf({ kind: fc.constant('hash:ip' as const), ip: anyIp }),
  entryOf({ kind: fc.constant('hash:ip,port' as const), ip: anyIp, protocol: u8, port: u16 }),
  entryOf({ kind: fc.constant('hash:ip,port,ip' as const), ip: anyIp, protocol: u8, port: u16, ip2: anyIp }),
  entryOf({ kind: fc.constant('hash:ip,port,net' as const), ip: anyIp, protocol: u8, port: u16, net: anyNet }),
  entryOf({ kind: fc.constant('hash:net' as const), net: anyNet }),
  entryOf({ kind: fc.constant('bitmap:port' as const), port: u16 }),
);

test('KERNEL-1 every entry survives encoding and decoding', () => {
  fc.assert(fc.property(anyEntry, entry => assert.deepEqual(decodeEntry(entry.kind, innerOf(entry)), entry)));
});

test('KERNEL-2 random bytes and changed entries never make the decoder throw, for any type', () => {
  const change = fc.record({ at: fc.nat(200), byte: u8 });
  fc.assert(
    fc.property(
      anyEntry,
      fc.array(change, { maxLength: 4 }),
      fc.uint8Array({ maxLength: 80 }),
      (entry, list, random) => {
        const changed = innerOf(entry);
        for (const { at, byte } of list) if (at < changed.length) changed[at] = byte;
        for (const type of SET_TYPES) {
          for (const bytes of [changed, Buffer.from(random)]) {
            const decoded = decodeEntry(type, bytes);
            if (decoded) printEntry(decoded);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});
