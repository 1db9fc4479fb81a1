import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { captured, comparable, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { type Ip, ipFromBytes, parseIp } from '../../net/index.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import {
  AddressFlag,
  AddressMessage,
  decodeAddress,
  encodeAddress,
  type NewAddress,
  printAddress,
  printGetAddresses,
} from './address.ts';
import type { LinkRef } from './link.ts';
import { RouteSocket } from './socket.ts';

const veth0 = { index: 3, name: 'veth0' };

function address(text: string, prefix: number, nodad = false): NewAddress {
  return { ip: parseIp(text) ?? assert.fail(text), prefix, nodad };
}

const lo = { index: 1, name: 'lo' };
const body6 = (last: string) =>
  ['14000200', '14000100'].map(header => `${header}fd0000000000000000000000000000${last}`).join(' ');
const CASES: readonly {
  line: string;
  verb: 'add' | 'replace' | 'del';
  link?: LinkRef;
  address: NewAddress;
  hex: string;
}[] = [
  {
    line: 'ip addr add 10.96.0.1/32 dev veth0',
    verb: 'add',
    address: address('10.96.0.1', 32),
    hex: '28000000140005068e6ff96a000000000220000003000000 080002000a600001080001000a600001',
  },
  {
    line: 'ip addr replace 10.0.0.1/24 dev veth0',
    verb: 'replace',
    address: address('10.0.0.1', 24),
    hex: '28000000140005058f6ff96a000000000218000003000000 080002000a000001080001000a000001',
  },
  {
    line: 'ip addr del 10.96.0.1/32 dev veth0',
    verb: 'del',
    address: address('10.96.0.1', 32),
    hex: '28000000150005008f6ff96a000000000220000003000000 080002000a600001080001000a600001',
  },
  {
    line: 'ip addr add 127.0.0.2/8 dev lo',
    verb: 'add',
    link: lo,
    address: address('127.0.0.2', 8),
    hex: '28000000140005065570f96a00000000020800fe01000000 080002007f000002080001007f000002',
  },
  {
    line: 'ip addr add fd00::1/64 dev veth0 nodad',
    verb: 'add',
    address: address('fd00::1', 64, true),
    hex: `40000000140005068f6ff96a000000000a40020003000000 ${body6('01')}`,
  },
  {
    line: 'ip addr add fd00::2/128 dev veth0',
    verb: 'add',
    address: address('fd00::2', 128),
    hex: `40000000140005068f6ff96a000000000a80000003000000 ${body6('02')}`,
  },
  {
    line: 'ip addr del fd00::2/128 dev veth0',
    verb: 'del',
    address: address('fd00::2', 128, true),
    hex: `40000000150005008f6ff96a000000000a80000003000000 ${body6('02')}`,
  },
];

for (const { line, verb, link = veth0, address, hex } of CASES) {
  test(`KERNEL-1 KERNEL-4 sends the bytes of \`${line}\` and prints that line`, () => {
    const transport = new RecordingTransport();
    const socket = new RouteSocket(new NetlinkSocket(transport));
    if (verb === 'add') socket.addAddress(link, address);
    else if (verb === 'replace') socket.replaceAddress(link, address);
    else socket.deleteAddress(link, address);
    assert.deepEqual(
      transport.sent.map(bytes => comparable(bytes, 8)),
      [captured(hex)],
    );
    assert.equal(printAddress(verb, link, address), line);
  });
}

test('KERNEL-1 listing all addresses, those of a family or those of a link sends the bytes of `ip addr show`', () => {
  const transport = new RecordingTransport();
  const socket = new RouteSocket(new NetlinkSocket(transport));
  socket.addresses();
  socket.addresses({ family: 'IPv4' });
  socket.addresses({ link: veth0 });
  assert.deepEqual(
    transport.sent.map(bytes => comparable(bytes, 8)),
    [
      captured('1800000016000103906ff96a00000000 0000000000000000'),
      captured('1800000016000103906ff96a00000000 0200000000000000'),
      captured('1800000016000103906ff96a00000000 0000000003000000'),
    ],
  );
  assert.equal(printGetAddresses({ family: 'IPv6', link: veth0 }), 'ip -6 addr show dev veth0');
});

test('KERNEL-1 leaves out addresses of other links if the kernel ignores the filter', () => {
  const answers = [3, 4].map(index => ({
    type: AddressMessage.NEW,
    write: (writer: Parameters<typeof encodeAddress>[0]) =>
      encodeAddress(writer, 'add', { index, name: '' }, address(`10.0.0.${index}`, 32)),
  }));
  const socket = new RouteSocket(new NetlinkSocket(new RecordingTransport(() => answers)));
  const found = socket.addresses({ link: veth0 });
  assert.deepEqual(
    found.map(({ ip }) => ip),
    ['10.0.0.3'],
  );
});

test('KERNEL-1 every address survives encoding and decoding', () => {
  const ip = fc
    .oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
    .map(bytes => ipFromBytes(bytes) as Ip);
  const property = fc.property(ip, fc.nat(32), fc.boolean(), fc.nat(), (ip, prefix, nodad, index) => {
    const link = { index, name: 'x' };
    const bytes = message(AddressMessage.NEW, 0, writer => encodeAddress(writer, 'add', link, { ip, prefix, nodad }));
    const decoded = decodeAddress(bytes.subarray(16));
    assert.deepEqual({ ip, prefix, index }, { ip: decoded?.ip, prefix: decoded?.prefix, index: decoded?.index });
    assert.equal(decoded?.flags, nodad ? AddressFlag.NODAD : 0);
  });
  fc.assert(property);
});

test('KERNEL-1 reads the local address of a point-to-point link, and flags that do not fit into the header', () => {
  const bytes = message(AddressMessage.NEW, 0, writer => {
    writer.struct(Buffer.from([2, 32, 0x80, 0, 5, 0, 0, 0])).data(1, Buffer.from([10, 0, 0, 2]));
    writer
      .data(2, Buffer.from([10, 0, 0, 1]))
      .string(3, 'ppp0')
      .u32(8, 0x280);
  });
  assert.deepEqual(decodeAddress(bytes.subarray(16)), {
    ip: '10.0.0.1',
    prefix: 32,
    index: 5,
    scope: 0,
    flags: 0x280,
    label: 'ppp0',
  });
});
