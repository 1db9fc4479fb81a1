import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dataBytes, dataValues } from './data.ts';
import { type DataType, dataSize, printData, typeNumber, typesOf } from './datatype.ts';
import { printRange } from './range.ts';

test('KERNEL-1 a concatenation has six bits for each type, and its components begin at multiples of four bytes', () => {
  assert.equal(typeNumber(['ipv4_addr']), 7);
  assert.equal(typeNumber(['ipv4_addr', 'inet_proto', 'inet_service', 'mark']), 0x1cc353);
  assert.deepEqual(typesOf(0x1cc353), ['ipv4_addr', 'inet_proto', 'inet_service', 'mark']);
  assert.equal(dataSize(['inet_service']), 2);
  assert.equal(dataSize(['ipv4_addr', 'inet_proto', 'inet_service']), 12);
  assert.equal(dataSize(['ipv6_addr', 'inet_service']), 20);
});

test('KERNEL-1 a verdict has its own number, and unknown types keep theirs', () => {
  assert.equal(typeNumber(['verdict']), 0xffffff00);
  assert.deepEqual(typesOf(0xffffff00), ['verdict']);
  assert.deepEqual(typesOf((7 << 6) | 43), ['ipv4_addr', 'type-43']);
  assert.equal(typeNumber(['ipv4_addr', 'type-43']), (7 << 6) | 43);
});

const TEXTS: readonly (readonly [DataType[], (string | number)[], string, string])[] = [
  [
    ['ipv4_addr', 'inet_proto', 'inet_service'],
    ['10.96.0.10', 'tcp', 80],
    '0a60000a0600000000500000',
    '10.96.0.10 . tcp . 80',
  ],
  [['inet_proto', 'inet_service'], [132, 65535], '84000000ffff0000', 'sctp . 65535'],
  [['inet_proto'], [200], 'c8', '200'],
  [['mark'], [0x4000], '00400000', '0x00004000'],
  [['integer'], [3], '03000000', '3'],
  [['ifname'], ['eth0'], '65746830000000000000000000000000', '"eth0"'],
  [['ether_addr'], ['02:00:00:00:00:ff'], '0200000000ff', '02:00:00:00:00:ff'],
  [['ipv6_addr', 'inet_service'], ['fd00::1', 53], 'fd00000000000000000000000000000100350000', 'fd00::1 . 53'],
];

for (const [types, values, hex, text] of TEXTS) {
  test(`KERNEL-1 encodes and prints ${types.join(' . ')} as nft does: ${text}`, () => {
    const bytes = dataBytes(types, values);
    assert.equal(bytes.toString('hex'), hex);
    assert.equal(printData(types, bytes), text);
  });
}

test('KERNEL-1 refuses values that do not fit their type', () => {
  const wrong: readonly (readonly [DataType, string | number])[] = [
    ['ipv4_addr', 'fd00::1'],
    ['ipv6_addr', '10.0.0.1'],
    ['ipv4_addr', 'x'],
    ['inet_service', 65536],
    ['inet_service', -1],
    ['inet_service', 'http'],
    ['mark', 1.5],
    ['inet_proto', 'carrier-pigeon'],
    ['ifname', 'a-name-of-16-byt'],
    ['ether_addr', '02:00'],
    ['verdict', 1],
  ];
  for (const [type, value] of wrong)
    assert.throws(() => dataBytes([type], [value]), /is not a|be given as|too long|not an address/);
  assert.throws(() => dataBytes(['mark', 'mark'], [1]), RangeError);
});

test('KERNEL-1 every value survives encoding and decoding', () => {
  const types: DataType[] = ['ipv4_addr', 'inet_proto', 'inet_service', 'mark', 'integer'];
  const values = fc.tuple(fc.ipV4(), fc.nat(255), fc.nat(65535), fc.nat(0xffffffff), fc.nat(0xffffffff));
  fc.assert(fc.property(values, values => assert.deepEqual(dataValues(types, dataBytes(types, values)), values)));
  assert.equal(dataValues(types, Buffer.alloc(19)), undefined);
});

test('KERNEL-1 each field of a range prints as a prefix if it is one, otherwise as two ends', () => {
  const types: DataType[] = ['ipv4_addr', 'inet_service'];
  const print = (first: [string, number], last: [string, number]) =>
    printRange(types, dataBytes(types, first), dataBytes(types, last));
  assert.equal(print(['10.0.0.0', 80], ['10.255.255.255', 80]), '10.0.0.0/8 . 80');
  assert.equal(print(['10.0.0.1', 80], ['10.0.0.2', 90]), '10.0.0.1-10.0.0.2 . 80-90');
  assert.equal(print(['0.0.0.0', 0], ['255.255.255.255', 65535]), '0.0.0.0/0 . 0-65535');
  assert.equal(printRange(['mark'], Buffer.alloc(1), Buffer.alloc(2)), '0x00-0x0000');
});
