import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captured, comparable, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import { decodeLink, encodeGetLink, LinkAttribute, LinkMessage, linkHeader } from './link.ts';
import { RouteSocket } from './socket.ts';

const SHOW =
  '34000000120001008e6ff96a0000000000000000000000000000000000000000 08001d00090000000a0003007665746830000000';
const DEL = '2000000011000500916ff96a0000000000000000040000000000000000000000';
const DUMP = '28000000120001038f6ff96a0000000000000000000000000000000000000000 08001d0001000000';

test('KERNEL-1 getting a link sends the bytes of `ip link show veth0`, without the virtual functions', () => {
  const bytes = message(LinkMessage.GET, 1, writer => encodeGetLink(writer, 'veth0'));
  assert.equal(comparable(bytes, 16), captured(SHOW.replace('08001d0009', '08001d0008')));
});

test('KERNEL-1 a name that is too long for a link is sent as an alternative name', () => {
  const bytes = message(LinkMessage.GET, 1, writer => encodeGetLink(writer, 'sixteen-letters.'));
  assert.equal(bytes.readUInt16LE(16 + 16 + 8 + 2), LinkAttribute.ALT_IFNAME);
});

test('KERNEL-1 listing links sends the bytes of `ip addr`, without statistics', () => {
  const transport = new RecordingTransport();
  assert.deepEqual(new RouteSocket(new NetlinkSocket(transport)).links(), []);
  const [bytes = Buffer.alloc(0)] = transport.sent;
  assert.equal(comparable(bytes, 16), captured(DUMP.replace('08001d0001', '08001d0008')));
});

test('KERNEL-1 deleting a link sends the bytes of `ip link del br0`', () => {
  const transport = new RecordingTransport();
  new RouteSocket(new NetlinkSocket(transport)).deleteLink({ index: 4, name: 'br0' });
  assert.deepEqual(
    transport.sent.map(bytes => comparable(bytes, 16)),
    [captured(DEL)],
  );
});

test('KERNEL-1 decodes a link with all its attributes', () => {
  const bytes = message(LinkMessage.NEW, 0, writer => {
    writer.struct(linkHeader(7, 0x1003)).string(LinkAttribute.IFNAME, 'veth0').u32(LinkAttribute.MTU, 1400);
    writer.u32(LinkAttribute.TXQLEN, 1000).data(LinkAttribute.ADDRESS, Buffer.from('ce2a846b1743', 'hex'));
    writer.u32(LinkAttribute.MASTER, 4).u32(LinkAttribute.LINK, 2);
    const info = writer.nest(LinkAttribute.LINKINFO);
    writer.string(1, 'veth').close(info);
  });
  assert.deepEqual(decodeLink(bytes.subarray(16)), {
    index: 7,
    name: 'veth0',
    kind: 'veth',
    flags: 0x1003,
    mtu: 1400,
    txqlen: 1000,
    address: 'ce:2a:84:6b:17:43',
    master: 4,
    link: 2,
  });
});

test('KERNEL-1 a message of a bridge about its port decodes to no link', () => {
  const header = linkHeader(7);
  header[0] = 7;
  const bytes = message(LinkMessage.DEL, 0, writer => writer.struct(header).string(LinkAttribute.IFNAME, 'veth0'));
  assert.equal(decodeLink(bytes.subarray(16)), undefined);
});
