import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Message, readMessages } from '../netlink/index.ts';
import { attributePath } from './attribute-path.ts';
import { encodeBatch } from './batch.ts';
import { decodeChain } from './chain.ts';
import { dataBytes, dataValues } from './data.ts';
import { printData, typesOf } from './datatype.ts';
import { decodeElements, printElement } from './element.ts';
import { decodeEvent } from './event.ts';
import { decodeGeneration } from './generation.ts';
import { joinIntervals } from './interval.ts';
import { decodeRule } from './rule.ts';
import { decodeSet, type NftMap, printSetBody } from './set.ts';
import { decodeTable } from './table.ts';
import { Transaction } from './transaction.ts';
import { decodeUserdata } from './userdata.ts';

const map: NftMap = {
  kind: 'map',
  name: 'm',
  type: ['ipv4_addr', 'inet_proto', 'inet_service', 'mark'],
  data: ['ipv4_addr', 'inet_service'],
  flags: ['interval', 'timeout'],
  timeout: 5000,
  size: 10,
  counter: true,
  comment: 'a map',
};

const counter = { kind: 'counter', packets: 3n, bytes: 180n } as const;

/** A batch with one message of every kind. */
function sample(): Buffer {
  const key = dataBytes(map.type, ['10.0.0.1', 'tcp', 80, 3]);
  const transaction = new Transaction('ip', 't')
    .add({ kind: 'table', family: 'ip', name: 't', comment: 'a table' })
    .add({ kind: 'chain', name: 'c', base: { type: 'filter', hook: 'input', priority: -5 }, comment: 'a chain' })
    .add(map)
    .addElements(map, [
      {
        kind: 'element',
        key,
        data: dataBytes(map.data, ['10.0.0.2', 8080]),
        comment: 'an element',
        timeout: 5,
        counter,
      },
      { kind: 'element', key, verdict: { kind: 'goto', chain: 'c' } },
    ])
    .add({
      kind: 'rule',
      chain: 'c',
      expressions: [{ kind: 'verdict', verdict: { kind: 'jump', chain: 'c' } }],
      comment: 'a rule',
    })
    .delete({ kind: 'rule', chain: 'c', handle: 4 })
    .flush(map);
  return encodeBatch(transaction, 1).bytes;
}

function decodeAll(message: Message): void {
  for (const decode of [decodeTable, decodeChain, decodeRule, decodeGeneration, decodeEvent]) decode(message);
  const set = decodeSet(message)?.set;
  if (set) printSetBody(set);
  const { elements } = decodeElements(message) ?? { elements: [] };
  joinIntervals(elements);
  for (const element of elements) printElement(set?.type ?? map.type, map.data, element, 'whole');
  decodeUserdata(message.body);
}

test('KERNEL-1 random bytes never make a decoder throw', () => {
  const message = fc.record({
    type: fc.integer({ min: 0x0a00, max: 0x0a1f }),
    flags: fc.nat(0xffff),
    sequence: fc.nat(),
    body: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
  });
  fc.assert(fc.property(message, message => decodeAll(message)));
});

test('KERNEL-1 messages that are cut short or changed never make a decoder throw', () => {
  const original = sample();
  const changes = fc.array(fc.tuple(fc.nat(original.length - 1), fc.nat(255)), { maxLength: 8 });
  fc.assert(
    fc.property(changes, fc.nat(original.length), fc.nat(original.length), (changes, end, offset) => {
      const bytes = Buffer.from(original);
      for (const [at, value] of changes) bytes[at] = value;
      for (const message of readMessages(bytes)) {
        decodeAll(message);
        decodeAll({ ...message, body: message.body.subarray(0, end) });
      }
      attributePath(bytes.subarray(0, end), offset);
    }),
    { numRuns: 1000 },
  );
});

test('KERNEL-1 every message of a batch decodes to the event that reports it', () => {
  const kinds = [...readMessages(sample())].map(message => {
    const event = decodeEvent(message);
    return event && `${event.type} ${event.object.kind} of ${event.family} ${event.table}`;
  });
  assert.deepEqual(kinds, [
    undefined,
    'new table of ip t',
    'new chain of ip t',
    'new map of ip t',
    'new elements of ip t',
    'new rule of ip t',
    'del rule of ip t',
    'del elements of ip t',
    undefined,
  ]);
});

test('KERNEL-1 the counters of a set and of its elements survive encoding and decoding', () => {
  const objects = [...readMessages(sample())].flatMap(message => decodeEvent(message)?.object ?? []);
  const counters = objects.flatMap((object): unknown[] => {
    if (object.kind === 'map') return [object.counter];
    return object.kind === 'elements' ? object.elements.map(element => element.counter) : [];
  });
  assert.deepEqual(counters, [true, counter, undefined]);
});

test('KERNEL-1 bytes of any length can be printed with any types', () => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), fc.uint8Array({ maxLength: 40 }), (number, bytes) => {
      const types = typesOf(number);
      assert.equal(typeof printData(types, Buffer.from(bytes)), 'string');
      dataValues(types, Buffer.from(bytes));
    }),
  );
});
