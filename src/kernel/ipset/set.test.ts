import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Flag, MessageWriter } from '../netlink/index.ts';
import { IpsetMessage } from './message.ts';
import { decodeHeader, decodeSet, encodeCreate, type IpSet, printCreate } from './set.ts';

const hex = (text: string) => text.replaceAll(/\s/g, '');

function create(set: IpSet, revision: number, exist = false): string {
  const flags = Flag.REQUEST | Flag.ACK | Flag.CREATE | (exist ? 0 : Flag.EXCL);
  const writer = new MessageWriter().begin(IpsetMessage.CREATE, flags, 1);
  encodeCreate(writer, 7, set, revision);
  return writer.end().bytes.toString('hex');
}

const clusterIp: IpSet = { name: 'A', type: 'hash:ip,port', family: 'IPv4', hashsize: 1024, maxelem: 65536 };

// The expected bytes are those of `ipset create` 7.17, with sequence number 1.
test('KERNEL-1 creating a hash set has the bytes of ipset', () => {
  const expected = `5c000000 0206 0506 01000000 00000000 02000000 05000100 07000000 06000200 41000000
    11000300 686173683a69702c706f7274 00000000 05000400 07000000 05000500 02000000
    14000780 08001240 00000400 08001340 00010000`;
  assert.equal(create(clusterIp, 7), hex(expected));
  assert.equal(create(clusterIp, 7, true), hex(expected).replace('02060506', '02060504'));
});

test('KERNEL-1 creating an IPv6 set with all options has the bytes of ipset', () => {
  const set: IpSet = {
    name: 'A6',
    type: 'hash:ip,port,net',
    family: 'IPv6',
    hashsize: 1024,
    maxelem: 65536,
    timeout: 300,
    counters: true,
    comment: true,
    bucketsize: 4,
    initval: 0x12345678,
  };
  const expected = `80000000 0206 0506 01000000 00000000 02000000 05000100 07000000 07000200 41360000
    15000300 686173683a69702c706f72742c6e6574 00000000 05000400 08000000 05000500 0a000000
    34000780 08000640 0000012c 08000840 00000018 08001140 12345678 08001240 00000400 08001340 00010000 05001500 04000000`;
  assert.equal(create(set, 8), hex(expected));
  assert.equal(
    printCreate(set),
    'create A6 hash:ip,port,net family inet6 hashsize 1024 maxelem 65536 timeout 300 counters comment bucketsize 4 initval 0x12345678',
  );
});

test('KERNEL-1 creating a set of ports, which has no family, has the bytes of ipset', () => {
  const set: IpSet = { name: 'F', type: 'bitmap:port', range: { from: 0, to: 65535 } };
  const expected = `58000000 0206 0506 01000000 00000000 02000000 05000100 07000000 06000200 46000000
    10000300 6269746d61703a706f727400 05000400 03000000 05000500 00000000
    14000780 06000440 00000000 06000540 ffff0000`;
  assert.equal(create(set, 3), hex(expected));
  assert.equal(printCreate(set), 'create F bitmap:port range 0-65535');
});

test('KERNEL-1 creating a set with a netmask has the bytes of ipset', () => {
  const expected = `4c000000 0206 0506 01000000 00000000 02000000 05000100 07000000 06000200 4e000000
    0c000300 686173683a697000 05000400 06000000 05000500 02000000 0c000780 05001400 18000000`;
  assert.equal(create({ name: 'N', type: 'hash:ip', family: 'IPv4', netmask: 24 }, 6), hex(expected));
});

/** A set as Linux 6.18 lists it. */
const listed = Buffer.from(
  hex(`02000000 05000100 07000000 06000200 41000000 11000300 686173683a69702c706f7274 00000000
    05000500 02000000 05000400 07000000 06000b40 00000000
    3c000780 08001240 00000400 08001340 00010000 05001500 0c000000 08001140 b5e4d85a 08001940 00000002
    08001a40 000000d8 08001840 00000005`),
  'hex',
);

test('KERNEL-1 decodes the header of a listed set and prints it as ipset save does', () => {
  const header = decodeHeader(listed);
  assert.ok(header);
  assert.deepEqual(header, {
    ...clusterIp,
    netmask: undefined,
    range: undefined,
    timeout: undefined,
    counters: false,
    comment: false,
    bucketsize: 12,
    initval: 0xb5e4d85a,
    revision: 7,
    references: 2,
    memsize: 216,
    elements: 5,
  });
  assert.equal(
    printCreate(header),
    'create A hash:ip,port family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0xb5e4d85a',
  );
});

test('KERNEL-1 a message that continues a set has no header', () => {
  assert.equal(decodeSet(Buffer.from(hex('02000000 05000100 07000000 06000200 41000000 04000880'), 'hex')), undefined);
});

test('KERNEL-2 random and changed bytes never make the decoder throw', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(fc.property(bytes, random => void decodeHeader(Buffer.from(random))));
  const change = fc.record({ at: fc.nat(listed.length - 1), byte: fc.integer({ min: 0, max: 255 }) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 5 }), fc.nat(listed.length), (changes, length) => {
      const changed = Buffer.from(listed);
      for (const { at, byte } of changes) changed[at] = byte;
      const header = decodeHeader(changed.subarray(0, length)) ?? decodeHeader(changed);
      if (header) printCreate(header);
    }),
    { numRuns: 1000 },
  );
});
