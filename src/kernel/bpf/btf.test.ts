import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BtfReader } from './btf-reader.ts';
import { BtfWriter } from './btf-writer.ts';
import { bytesOf, struct, u8, u16, u32, u64 } from './struct.ts';

const Peer = struct({ state: u32, port: u16, flags: [u8, 2], namespace: u64, address: [u32, 4] });

function written(): Buffer {
  const writer = new BtfWriter();
  const int = writer.int('int', 4, true);
  writer.struct('peer', Peer);
  writer.func('main', int);
  return writer.bytes();
}

function words(bytes: Buffer): readonly string[] {
  return Array.from({ length: bytes.length / 4 }, (_, i) =>
    bytes
      .readUInt32LE(i * 4)
      .toString(16)
      .padStart(8, '0'),
  );
}

test('BPF-4 type information has the bytes of linux/btf.h', () => {
  const writer = new BtfWriter();
  const int = writer.int('int', 4, true);
  const array = writer.array(int, int, 3);
  const main = writer.func('main', int);
  assert.deepEqual([int, array, main], [1, 2, 4]);
  const bytes = writer.bytes();
  const [header, types] = [bytes.subarray(0, 24), bytes.subarray(24, 24 + 64)];
  assert.deepEqual(words(header), ['0001eb9f', '00000018', '00000000', '00000040', '00000040', '0000000a']);
  assert.deepEqual(words(types), [
    ...['00000001', '01000000', '00000004', '01000020'],
    ...['00000000', '03000000', '00000000', '00000001', '00000001', '00000003'],
    ...['00000000', '0d000000', '00000001'],
    ...['00000005', '0c000001', '00000003'],
  ]);
  assert.equal(bytes.toString('latin1', 24 + 64), '\0int\0main\0');
});

test('BPF-4 what the writer wrote, the reader reads', () => {
  const reader = BtfReader.of(written());
  assert.ok(reader);
  assert.ok(reader.functionId('main'));
  assert.deepEqual(reader.member('peer'), { offset: 0, size: bytesOf(Peer) });
  for (const { name, offset, size, count } of Object.values(Peer)) {
    assert.deepEqual(reader.member('peer', name), { offset, size: size * count }, name);
  }
});

test('BPF-4 names that are not there are undefined', () => {
  const reader = BtfReader.of(written());
  assert.deepEqual(
    [
      reader?.functionId('peer'),
      reader?.functionId('mai'),
      reader?.member('main'),
      reader?.member('peer', 'nothing'),
      reader?.member('peer', 'state', 'port'),
    ],
    [undefined, undefined, undefined, undefined, undefined],
  );
});

test('BPF-4 a text is there once', () => {
  const writer = new BtfWriter();
  assert.deepEqual(
    [writer.text(''), writer.text('a'), writer.text('µ'), writer.text('b'), writer.text('a')],
    [0, 1, 3, 6, 1],
  );
});

test('BPF-4 a member inside of a structure without a name is found, through typedefs and the like', () => {
  const reader = BtfReader.of(handWritten());
  assert.deepEqual(reader?.member('outer', 'inner'), { offset: 12, size: 4 });
  assert.deepEqual(reader?.member('outer', 'pointer'), { offset: 8, size: 8 });
});

/** Types 1: int, 2: volatile int, 3: union { inner }, 4: typedef of 3, 5: pointer, 6: struct outer { 4; pointer }. */
function handWritten(): Buffer {
  const texts = '\0outer\0inner\0pointer\0';
  const types = [
    ...[0, 0x01000000, 4, 32],
    ...[0, 0x09000000, 1],
    ...[0, 0x05000001, 4, 7, 2, 0],
    ...[0, 0x08000000, 3],
    ...[0, 0x02000000, 1],
    ...[1, 0x84000002, 16, 0, 4, 0x03000060, 13, 5, 64],
  ];
  const header = [0x0001eb9f, 24, 0, types.length * 4, types.length * 4, texts.length];
  const bytes = Buffer.alloc((header.length + types.length) * 4);
  for (const [i, word] of [...header, ...types].entries()) bytes.writeUInt32LE(word, i * 4);
  return Buffer.concat([bytes, Buffer.from(texts)]);
}

test('BPF-4 KERNEL-2 no bytes make the reader throw or hang', () => {
  const good = handWritten();
  const look = (bytes: Buffer) => {
    const reader = BtfReader.of(bytes);
    for (const name of ['outer', 'inner', '']) reader?.member('outer', name, name);
    reader?.functionId('outer');
    return true;
  };
  const changed = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 8 }).map(changes => {
    const bytes = Buffer.from(good);
    for (const [at, value] of changes) bytes.writeUInt8(value, at);
    return bytes;
  });
  const cut = fc.nat(good.length).map(length => good.subarray(0, length));
  const random = fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes));
  fc.assert(fc.property(fc.oneof(changed, cut, random), look), { numRuns: 3000 });
});
