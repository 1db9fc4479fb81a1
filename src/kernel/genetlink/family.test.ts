import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Answer, captured, comparable, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { type Message, type MessageWriter, NetlinkSocket } from '../netlink/index.ts';
import { CONTROL, decodeFamily, genericHeader } from './family.ts';
import { GenericSocket } from './socket.ts';

function writeFamily(writer: MessageWriter): void {
  writer.struct(genericHeader(1, 2)).string(2, 'IPVS').u16(1, 28).u32(3, 1).u32(4, 0).u32(5, 6);
  const groups = writer.nest(7);
  for (const [index, name] of ['config', 'events'].entries()) {
    const group = writer.nest(index + 1);
    writer
      .u32(2, 40 + index)
      .string(1, name)
      .close(group);
  }
  writer.close(groups);
}

function answers(request: Message): readonly Answer[] | undefined {
  return request.type === CONTROL.id ? [{ type: CONTROL.id, write: writeFamily }, 0] : undefined;
}

test('KERNEL-1 looking up a family sends the bytes of ipvsadm', () => {
  const transport = new RecordingTransport(answers);
  new GenericSocket(new NetlinkSocket(transport)).getFamily('IPVS');
  const hex = '2000000010000500ba6ff96a890340e4 03010000 090002004950565300000000';
  assert.deepEqual(
    transport.sent.map(bytes => comparable(bytes, 4)),
    [captured(hex)],
  );
});

test('KERNEL-1 decodes a family with its multicast groups', () => {
  const body = message(CONTROL.id, 0, writeFamily).subarray(16);
  const groups = new Map([
    ['config', 40],
    ['events', 41],
  ]);
  const expected = { name: 'IPVS', id: 28, version: 1, headerSize: 0, maxAttribute: 6, groups };
  assert.deepEqual(decodeFamily(body), expected);
});

test('KERNEL-1 looks up a family once, and sends its commands under its number', () => {
  const transport = new RecordingTransport(answers);
  const socket = new GenericSocket(new NetlinkSocket(transport));
  socket.request('ipvsadm --version', 'IPVS', 15, 1);
  socket.request('ipvsadm --version', 'IPVS', 15, 1);
  assert.deepEqual([...socket.dump('ipvsadm -S', 'IPVS', 4, 1)], []);
  assert.deepEqual(
    transport.sent.slice(1).map(bytes => comparable(bytes, 4)),
    [
      captured('140000001c000500bb6ff96a89030017 0f010000'),
      captured('140000001c000500bb6ff96a89030017 0f010000'),
      captured('140000001c000103c76ff96ae703c05e 04010000'),
    ],
  );
});

test('KERNEL-1 random bytes and messages that are cut short or changed never make the decoder throw', () => {
  const whole = Buffer.from(message(CONTROL.id, 0, writeFamily).subarray(16));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => void decodeFamily(Buffer.from(bytes))));
  const property = fc.property(fc.nat(whole.length), fc.nat(whole.length - 1), fc.nat(255), (length, at, value) => {
    const bytes = Buffer.from(whole);
    bytes[at] = value;
    decodeFamily(bytes.subarray(0, length));
  });
  fc.assert(property, { numRuns: 500 });
});
