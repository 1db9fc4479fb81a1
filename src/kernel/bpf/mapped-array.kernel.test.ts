import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BpfMap } from './map.ts';
import type { MapSpec } from './map-spec.ts';

const spec: MapSpec = { name: 'test', type: 'array', keyBytes: 4, valueBytes: 8, entries: 64 };

function withMap(change: Partial<MapSpec>, work: (map: BpfMap) => void): void {
  const map = BpfMap.create({ ...spec, ...change });
  try {
    work(map);
  } finally {
    map.close();
  }
}

function key(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

function value(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
}

const values = (...numbers: readonly number[]) => Buffer.concat(numbers.map(value));

test('BPF-7 what is written to the memory of an array is in the map', () =>
  withMap({ entries: 700 }, map => {
    const memory = map.mapped();
    memory.write(5, values(50, 60));
    memory.store(699, 0x1122_3344_5566_7788n);
    assert.deepEqual([map.lookup(key(5)), map.lookup(key(6)), map.lookup(key(7))], [value(50), value(60), value(0)]);
    assert.equal(map.lookup(key(699))?.readBigUInt64LE(), 0x1122_3344_5566_7788n);
    map.update(key(0), value(9));
    assert.deepEqual(memory.read(0, 2), values(9, 0));
    assert.deepEqual(memory.read(), map.entries().values);
    memory.close();
  }));

test('BPF-7 elements begin at multiples of eight bytes', () =>
  withMap({ valueBytes: 20, entries: 10 }, map => {
    const memory = map.mapped();
    memory.write(1, Buffer.alloc(48, 7));
    assert.deepEqual(map.lookup(key(2)), Buffer.alloc(20, 7));
    assert.deepEqual(map.lookup(key(3)), Buffer.alloc(20));
    assert.throws(() => memory.write(1, Buffer.alloc(20)), /test: 20 bytes are not whole elements of 24/);
    memory.close();
  }));

test('BPF-7 nothing outside of the map is written or read', () =>
  withMap({ entries: 10 }, map => {
    const memory = map.mapped();
    for (const index of [-1, 10, 1000, 0.5]) {
      assert.throws(() => memory.write(index, value(1)), RangeError);
      assert.throws(() => memory.store(index, 1n), RangeError);
      assert.throws(() => memory.read(index, 1), RangeError);
    }
    assert.throws(() => memory.write(9, values(1, 2)), RangeError);
    memory.close();
  }));

test('BPF-7 memory that was given back is an error, also if the kernel maps something else there', () =>
  withMap({ entries: 10 }, map => {
    const memory = map.mapped();
    memory.store(1, 5n);
    memory.close();
    memory.close();
    const other = map.mapped();
    assert.throws(() => memory.store(1, 6n), /the memory of test is closed/);
    assert.throws(() => memory.write(1, value(6)), /the memory of test is closed/);
    assert.throws(() => memory.read(), /the memory of test is closed/);
    assert.deepEqual(other.read(1, 1), value(5));
    other.close();
  }));

test('BPF-7 mapped memory is valid after the descriptor of the map is closed', () => {
  const map = BpfMap.create(spec);
  const memory = map.mapped();
  map.close();
  memory.store(3, 4n);
  assert.deepEqual(memory.read(3, 1), value(4));
  memory.close();
});

test('BPF-7 making and giving back memory many times leaves nothing', () =>
  withMap({ entries: 100_000 }, map => {
    for (let i = 0; i < 2000; i++) {
      const memory = map.mapped();
      memory.store(i, BigInt(i));
      memory.close();
    }
    assert.equal(map.lookup(key(1999))?.readBigUInt64LE(), 1999n);
  }));

test('BPF-7 a map that is no array has no memory', () =>
  withMap({ type: 'hash' }, map => assert.throws(() => map.mapped(), /^KernelError: map the memory of test: /)));
