import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captured, comparable, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import { decodeLink, LinkAttribute, LinkMessage, linkHeader } from './link.ts';
import { encodeNewLink, type NewLink, printNewLink } from './new-link.ts';
import { RouteSocket } from './socket.ts';

const HEADER = '0000000000000000 00000000000000000000000000000000';

/** Lines, and the bytes that `ip` sends for them. */
const CASES: readonly { line: string; link: NewLink; hex: string }[] = [
  {
    line: 'ip link add kube-ipvs0 type dummy',
    link: { kind: 'dummy', name: 'kube-ipvs0' },
    hex: `4000000010000506 ${HEADER} 0f0003006b7562652d69707673300000 100012000900010064756d6d79000000`,
  },
  {
    line: 'ip link add kube-ipvs1 txqueuelen 0 type dummy',
    link: { kind: 'dummy', name: 'kube-ipvs1', txqlen: 0 },
    hex: `4800000010000506 ${HEADER} 08000d0000000000 0f0003006b7562652d69707673310000 100012000900010064756d6d79000000`,
  },
  {
    line: 'ip link add br0 type bridge',
    link: { kind: 'bridge', name: 'br0' },
    hex: `3800000010000506 ${HEADER} 0800030062723000 100012000a0001006272696467650000`,
  },
  {
    line: 'ip link add veth0 type veth peer name veth1',
    link: { kind: 'veth', name: 'veth0', peer: { name: 'veth1' } },
    hex: `5c00000010000506 ${HEADER} 0a0003007665746830000000 30001200080001007665746824000200
      20000100000000000000000000000000000000000a0003007665746831000000`,
  },
  {
    line: 'ip link add v2 mtu 1400 type veth peer name v3',
    link: { kind: 'veth', name: 'v2', mtu: 1400, peer: { name: 'v3' } },
    hex: `5c00000010000506 ${HEADER} 0800040078050000 0700030076320000 2c001200080001007665746820000200
      1c000100000000000000000000000000000000000700030076330000`,
  },
];

for (const { line, link, hex } of CASES) {
  test(`KERNEL-1 KERNEL-4 sends the bytes of \`${line}\` and prints that line`, () => {
    const transport = new RecordingTransport(({ type }) =>
      type === LinkMessage.GET
        ? [{ type: LinkMessage.NEW, write: w => w.struct(linkHeader(9)).string(LinkAttribute.IFNAME, link.name) }, 0]
        : undefined,
    );
    assert.equal(new RouteSocket(new NetlinkSocket(transport)).addLink(link).index, 9);
    const [bytes = Buffer.alloc(0)] = transport.sent;
    assert.equal(comparable(bytes, 16), captured(hex));
    assert.equal(printNewLink(link), line);
  });
}

test('KERNEL-1 a peer in another namespace has the bytes of `ip link add v0 type veth peer name v1 netns …`', () => {
  const link: NewLink = { kind: 'veth', name: 'v0', peer: { name: 'v1', namespace: { path: '/run/netns/a' } } };
  const bytes = message(LinkMessage.NEW, 0x605, writer => encodeNewLink(writer, link, 4));
  const hex = `5c00000010000506 ${HEADER} 0700030076300000 34001200080001007665746828000200
    240001000000000000000000000000000000000008001c00040000000700030076310000`;
  assert.equal(comparable(bytes, 16), captured(hex));
  assert.equal(printNewLink(link), 'ip link add v0 type veth peer name v1 netns /run/netns/a');
});

test('KERNEL-1 every new link survives encoding and decoding', () => {
  for (const { link } of CASES) {
    const bytes = message(LinkMessage.NEW, 0, writer => encodeNewLink(writer, link));
    const { name, kind, mtu, txqlen } = decodeLink(bytes.subarray(16)) ?? {};
    assert.deepEqual({ name, kind }, { name: link.name, kind: link.kind });
    assert.deepEqual({ mtu, txqlen }, { mtu: link.mtu ?? 0, txqlen: link.txqlen ?? 0 });
  }
});
