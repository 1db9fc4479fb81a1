import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, RecordingTransport } from '../../../test/support/netlink.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import { LinkAttribute, LinkMessage, linkHeader } from './link.ts';
import { RouteSocket } from './socket.ts';

const INTERRUPTED = 0x10;

function link(name: string, flags: number): Answer {
  return { type: LinkMessage.NEW, flags, write: w => w.struct(linkHeader(1)).string(LinkAttribute.IFNAME, name) };
}

test('KERNEL-1 reads a list again if it changed while it was read', () => {
  let reads = 0;
  const transport = new RecordingTransport(() => [++reads < 3 ? link('old', INTERRUPTED) : link('new', 0)]);
  const links = new RouteSocket(new NetlinkSocket(transport)).links();
  assert.deepEqual(
    links.map(({ name }) => name),
    ['new'],
  );
});

test('KERNEL-1 throws if a list changed during each of five attempts', () => {
  const transport = new RecordingTransport(() => [link('old', INTERRUPTED)]);
  const socket = new RouteSocket(new NetlinkSocket(transport));
  assert.throws(() => socket.links(), { code: 'KERNEL_INTERRUPTED', operation: 'ip link show' });
  assert.equal(transport.sent.length, 5);
});

test('KERNEL-1 link throws for refusals other than a missing link', () => {
  const EPERM = 1;
  const socket = new RouteSocket(new NetlinkSocket(new RecordingTransport(() => [EPERM])));
  assert.throws(() => socket.link('eth0'), { code: 'KERNEL_REFUSED', errno: 'EPERM', operation: 'ip link show eth0' });
});
