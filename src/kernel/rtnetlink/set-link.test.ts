import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captured, comparable, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import { LinkMessage, type LinkRef } from './link.ts';
import { encodeSetLink, type LinkChange, printSetLink } from './set-link.ts';
import { RouteSocket } from './socket.ts';

const veth0 = { index: 3, name: 'veth0' };
const br0 = { index: 4, name: 'br0' };

const CASES: readonly { line: string; link?: LinkRef; change: LinkChange; hex: string }[] = [
  {
    line: 'ip link set veth0 up',
    change: { up: true },
    hex: '20000000100005008e6ff96a0000000000000000030000000100000001000000',
  },
  {
    line: 'ip link set veth0 down',
    change: { up: false },
    hex: '20000000100005008e6ff96a0000000000000000030000000000000001000000',
  },
  {
    line: 'ip link set veth0 master br0',
    change: { master: br0 },
    hex: '28000000100005008e6ff96a0000000000000000030000000000000000000000 08000a0004000000',
  },
  {
    line: 'ip link set veth0 nomaster',
    change: { master: null },
    hex: '28000000100005008e6ff96a0000000000000000030000000000000000000000 08000a0000000000',
  },
  {
    line: 'ip link set veth0 mtu 1400',
    change: { mtu: 1400 },
    hex: '28000000100005008e6ff96a0000000000000000030000000000000000000000 0800040078050000',
  },
  {
    line: 'ip link set veth0 address 02:00:0a:f4:01:01',
    change: { address: '02:00:0a:f4:01:01' },
    hex: '2c000000100005002780f96a0000000000000000030000000000000000000000 0a00010002000af401010000',
  },
  {
    line: 'ip link set veth1 name pod0',
    link: { index: 2, name: 'veth1' },
    change: { name: 'pod0' },
    hex: '2c000000100005008e6ff96a0000000000000000020000000000000000000000 09000300706f643000000000',
  },
  {
    line: 'ip link set veth0 type bridge_slave hairpin on',
    change: { hairpin: true },
    hex:
      '40000000100005005379f96a0000000000000000030000000000000000000000 ' +
      '20001200 100001006272696467655f736c617665 0c000500 0500040001000000',
  },
  {
    line: 'ip link set veth0 type bridge_slave hairpin off',
    change: { hairpin: false },
    hex:
      '40000000100005005379f96a0000000000000000030000000000000000000000 ' +
      '20001200 100001006272696467655f736c617665 0c000500 0500040000000000',
  },
];

for (const { line, link = veth0, change, hex } of CASES) {
  test(`KERNEL-1 KERNEL-4 sends the bytes of \`${line}\` and prints that line`, () => {
    const transport = new RecordingTransport();
    new RouteSocket(new NetlinkSocket(transport)).setLink(link, change);
    assert.deepEqual(
      transport.sent.map(bytes => comparable(bytes, 16)),
      [captured(hex)],
    );
    assert.equal(printSetLink(link, change), line);
  });
}

test('KERNEL-1 moving and renaming a link sends the bytes of `ip link set v2 netns … name eth0`', () => {
  const v2 = { index: 4, name: 'v2' };
  const change = { namespace: { path: '/run/netns/a' }, name: 'eth0' };
  const bytes = message(LinkMessage.NEW, 5, writer => encodeSetLink(writer, v2, change, 4));
  const hex =
    '34000000100005005470f96a0000000000000000040000000000000000000000 08001c0004000000 090003006574683000000000';
  assert.equal(comparable(bytes, 16), captured(hex));
  assert.equal(printSetLink(v2, change), 'ip link set v2 netns /run/netns/a name eth0');
});

test('KERNEL-1 refuses an invalid hardware address', () => {
  for (const address of ['', '02-00-0a-f4-01-01', '02:00:0a:f4:01:0g', '2:0:a:f4:1:1']) {
    const encode = () => message(LinkMessage.NEW, 5, writer => encodeSetLink(writer, veth0, { address }));
    assert.throws(encode, RangeError);
  }
});
