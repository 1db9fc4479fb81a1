import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flag, type Message, NetlinkSocket, readMessages, type Transport } from '../netlink/index.ts';
import { attributePath } from './attribute-path.ts';
import { encodeBatch } from './batch.ts';
import { dataBytes } from './data.ts';
import { decodeElements, type Element } from './element.ts';
import type { NftMap, NftSet } from './set.ts';
import { NftablesSocket } from './socket.ts';
import { Transaction } from './transaction.ts';

const table = { kind: 'table', family: 'ip', name: 't' } as const;
const set: NftSet = { kind: 'set', name: 's', type: ['ipv4_addr'] };
const ranges: NftSet = { ...set, name: 'r', flags: ['interval'] };
const map: NftMap = { kind: 'map', name: 'm', type: ['ipv4_addr', 'inet_proto', 'inet_service'], data: ['verdict'] };

const one = (last: number): Element => ({ kind: 'element', key: dataBytes(['ipv4_addr'], [`10.0.0.${last}`]) });
const lines = (transaction: Transaction): string[] => [...transaction.lines()];
const messages = (bytes: Buffer): Message[] => [...readMessages(bytes)];

function manyVerdicts(count: number): Element[] {
  return Array.from({ length: count }, (_, i) => ({
    kind: 'element',
    key: dataBytes(map.type, [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'tcp', 80]),
    verdict: { kind: 'goto', chain: `pick-${i % 100}` },
    comment: `namespace-${i % 7}/a-service-of-some-length-${i}`,
  }));
}

test('KERNEL-1 a batch has a begin with the generation, an end, an echo first and acknowledgements last', () => {
  const { bytes, first, count } = encodeBatch(
    new Transaction('ip', 't').add(table).add(set).delete(set),
    5,
    0x01020304,
  );
  const all = messages(bytes);
  assert.deepEqual([first, count], [5, 5]);
  assert.deepEqual(
    all.map(({ type, flags, sequence }) => [type, flags, sequence]),
    [
      [0x10, Flag.REQUEST, 5],
      [0xa00, Flag.REQUEST | Flag.ECHO, 6],
      [0xa09, Flag.REQUEST | Flag.CREATE, 7],
      [0xa0b, Flag.REQUEST | Flag.ACK, 8],
      [0x11, Flag.REQUEST | Flag.ACK, 9],
    ],
  );
  assert.equal(all[0]?.body.toString('hex'), '0000000a0800010001020304');
  assert.equal(all[4]?.body.toString('hex'), '0000000a');
});

test('KERNEL-1 elements fill the messages, but the first message, which is echoed, has a single element', () => {
  const elements = manyVerdicts(5000);
  const { bytes, origins } = encodeBatch(new Transaction('ip', 't').addElements(map, elements), 1);
  const lists = messages(bytes).flatMap(message => decodeElements(message) ?? []);
  assert.deepEqual(
    lists.flatMap(list => list.elements),
    elements,
  );
  assert.equal(lists[0]?.elements.length, 1);
  for (const message of messages(bytes).slice(2, -2)) assert.ok(message.body.length > 65_000, `${message.body.length}`);
  assert.deepEqual(
    origins.map(({ element }) => element),
    lists.map((_, i) => lists.slice(0, i).reduce((sum, list) => sum + list.elements.length, 0)),
  );
});

test('KERNEL-1 ranges fill the messages too', () => {
  const many = Array.from({ length: 6000 }, (_, i): Element => {
    const [high, low] = [i >> 8, i & 255];
    return {
      kind: 'element',
      key: Buffer.from([10, high, low, 0]),
      keyEnd: Buffer.from([10, high, low, 9]),
      comment: `${i}`,
    };
  });
  const { bytes } = encodeBatch(new Transaction('ip', 't').add(table).addElements(ranges, many), 1);
  const lists = messages(bytes).flatMap(message => decodeElements(message) ?? []);
  assert.equal(lists.flatMap(list => list.elements).length, 12_000);
  assert.equal(lists.length, 6);
});

test('KERNEL-1 elements of a set are merged into one command until the verb changes or an object follows', () => {
  const transaction = new Transaction('ip', 't');
  transaction
    .addElements(set, [one(1)])
    .addElements(map, manyVerdicts(1))
    .addElements(set, [one(2)]);
  transaction
    .deleteElements(set, [one(3)])
    .addElements(set, [one(4)])
    .add(table)
    .addElements(set, [one(5)]);
  assert.deepEqual(
    lines(transaction).map(line => line.replace(/ comment.*/, ' }')),
    [
      'add element ip t s { 10.0.0.1 }',
      'add element ip t s { 10.0.0.2 }',
      'add element ip t m { 10.0.0.0 . tcp . 80 }',
      'delete element ip t s { 10.0.0.3 }',
      'add element ip t s { 10.0.0.4 }',
      'add table ip t',
      'add element ip t s { 10.0.0.5 }',
    ],
  );
  assert.equal(transaction.commands.length, 6);
});

test('KERNEL-1 an empty list of elements makes no command, because the kernel would remove all elements', () => {
  const transaction = new Transaction('ip', 't').deleteElements(set, []).addElements(set, []);
  assert.ok(transaction.isEmpty);
});

test("KERNEL-1 adding more elements does not change the caller's array", () => {
  const given = [one(1)];
  new Transaction('ip', 't').addElements(set, given).addElements(set, [one(2)]);
  assert.equal(given.length, 1);
});

test('KERNEL-1 attributePath finds the attribute at an offset', () => {
  const { bytes, origins } = encodeBatch(new Transaction('ip', 't').add(table).addElements(map, manyVerdicts(3)), 1);
  const message = bytes.subarray(origins[1]?.at);
  const paths = new Set<string>();
  for (let offset = 20; offset < message.readUInt32LE(0); offset += 4)
    paths.add(attributePath(message, offset)?.text ?? '');
  for (const path of [
    'NFTA_SET_ELEM_LIST_TABLE',
    'NFTA_SET_ELEM_LIST_ELEMENTS',
    'NFTA_SET_ELEM_LIST_ELEMENTS[2]',
    'NFTA_SET_ELEM_LIST_ELEMENTS[0].NFTA_SET_ELEM_KEY.NFTA_DATA_VALUE',
    'NFTA_SET_ELEM_LIST_ELEMENTS[1].NFTA_SET_ELEM_DATA.NFTA_DATA_VERDICT.NFTA_VERDICT_CHAIN',
  ]) {
    assert.ok(paths.has(path), path);
  }
  assert.equal(attributePath(message, 0), undefined);
  assert.equal(attributePath(message, 1 << 20), undefined);
});

/** A kernel that acknowledges the messages at these positions of the batch. */
function kernelThatAcknowledges(...positions: number[]): Transport & { readonly background: readonly number[] } {
  const background: number[] = [];
  const waiting: Buffer[] = [];
  return {
    background,
    send(bytes) {
      for (const position of positions) {
        const request = messages(Buffer.from(bytes)).at(position);
        const answer = Buffer.alloc(36);
        answer.writeUInt32LE(36, 0);
        answer.writeUInt16LE(2, 4);
        answer.writeUInt32LE(request?.sequence ?? 0, 8);
        waiting.push(answer);
      }
    },
    async sendInBackground(bytes) {
      background.push(bytes.length);
      this.send(bytes);
    },
    receive: () => waiting.shift(),
    join: () => undefined,
    poll: () => assert.fail('polled'),
    close: () => undefined,
  };
}

async function commitTo(transport: Transport, elements: readonly Element[] = []): Promise<unknown> {
  const netlink = new NetlinkSocket(transport);
  const transaction = new Transaction('ip', 't').add(table).add(set).addElements(map, elements);
  return new NftablesSocket(netlink, netlink).commit(transaction);
}

test('KERNEL-1 a small transaction is sent directly, a large one in the background', async () => {
  const kernel = kernelThatAcknowledges(-1);
  await commitTo(kernel);
  assert.equal(kernel.background.length, 0);
  await commitTo(kernel, manyVerdicts(2000));
  assert.equal(kernel.background.length, 1);
});

test('KERNEL-1 an acknowledgement of the last message is enough if the kernel does not acknowledge the end', async () => {
  assert.deepEqual(await commitTo(kernelThatAcknowledges(-2)), { generation: undefined });
  assert.deepEqual(await commitTo(kernelThatAcknowledges(-2, -1)), { generation: undefined });
});

test('KERNEL-1 without any acknowledgement the outcome is unknown', async () => {
  await assert.rejects(commitTo(kernelThatAcknowledges()), {
    code: 'KERNEL_OVERRUN',
    message: 'commit 2 messages to table ip t: the kernel sent no acknowledgement',
  });
});
