import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordingTransport } from '../../../test/support/netlink.ts';
import { sendBulk } from './bulk.ts';
import { Flag, NetlinkSocket, readMessages } from './index.ts';

const EEXIST = 17;
const MESSAGE = {
  type: 20,
  flags: Flag.CREATE,
  write: (writer: { u32(type: number, value: number): unknown }, item: number) => void writer.u32(1, item),
  print: (item: number) => `add ${item}`,
};
const items = Array.from({ length: 5000 }, (_, index) => index);

test('KERNEL-1 sends every item once and in order, in parts of bounded size with one acknowledgement each', async () => {
  const transport = new RecordingTransport();
  assert.deepEqual(await sendBulk(new NetlinkSocket(transport), items, MESSAGE), []);
  assert.ok(transport.sent.length > 1);
  const sent = transport.sent.map(bytes => [...readMessages(bytes)]);
  assert.deepEqual(
    sent.flat().map(({ body }) => body.readUInt32LE(4)),
    items,
  );
  for (const [part, messages] of sent.entries()) {
    assert.ok((transport.sent[part]?.length ?? 0) < 64 << 10);
    const asking = messages.filter(({ flags }) => flags & Flag.ACK);
    assert.deepEqual(asking, messages.slice(-1));
  }
});

test('KERNEL-1 returns the items that the kernel refused, with its errors', async () => {
  const refuse = new Set([0, 7, 3000, 4999]);
  const transport = new RecordingTransport(({ body, flags }) => {
    if (refuse.has(body.readUInt32LE(4))) return [EEXIST];
    return flags & Flag.ACK ? [0] : [];
  });
  const refused = await sendBulk(new NetlinkSocket(transport), items, MESSAGE);
  assert.deepEqual(
    refused.map(({ item, error }) => [item, error.code, error.errno, error.operation]),
    [...refuse].map(item => [item, 'KERNEL_REFUSED', 'EEXIST', `add ${item}`]),
  );
});

test('KERNEL-1 throws if the kernel does not acknowledge the last message of a part', async () => {
  const socket = new NetlinkSocket(new RecordingTransport(() => []));
  await assert.rejects(sendBulk(socket, [1, 2], MESSAGE), { code: 'KERNEL_PROTOCOL', operation: 'add 2' });
});

test('KERNEL-1 sends nothing if there are no items', async () => {
  const transport = new RecordingTransport();
  assert.deepEqual(await sendBulk(new NetlinkSocket(transport), [], MESSAGE), []);
  assert.deepEqual(transport.sent, []);
});
