import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countPossibleCpus } from '../cpus.ts';
import { KernelError } from '../errors.ts';
import { close, socket } from '../libc.ts';
import { BpfMap } from './map.ts';
import type { MapSpec } from './map-spec.ts';
import { mapById, mapInfo } from './object-info.ts';
import { bytesOf, struct, u32, u64 } from './struct.ts';

const spec: MapSpec = { name: 'test', type: 'hash', keyBytes: 4, valueBytes: 8, entries: 64 };

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

const keys = (...numbers: readonly number[]) => Buffer.concat(numbers.map(key));
const values = (...numbers: readonly number[]) => Buffer.concat(numbers.map(value));

/** All entries of a map, sorted by key. */
function content(map: BpfMap): readonly (readonly [number, number])[] {
  const { keys: k, values: v } = map.entries();
  assert.equal(k.length / 4, v.length / 8);
  const rows = Array.from({ length: k.length / 4 }, (_, i) => [
    k.readUInt32LE(i * 4),
    Number(v.readBigUInt64LE(i * 8)),
  ]);
  return rows.sort(([a = 0], [b = 0]) => a - b) as unknown as readonly (readonly [number, number])[];
}

function errnoOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof KernelError, String(error));
    return `${error.operation}: ${error.errno}`;
  }
  return undefined;
}

for (const type of ['hash', 'lru hash'] as const) {
  test(`BPF-6 entries of a map of type ${type} are written, replaced, read and removed`, () =>
    withMap({ type }, map => {
      map.update(key(1), value(10));
      map.update(key(1), value(11));
      map.updateBatch(keys(2, 3, 4), values(20, 30, 40));
      map.updateBatch(keys(), values());
      assert.deepEqual(content(map), [
        [1, 11],
        [2, 20],
        [3, 30],
        [4, 40],
      ]);
      assert.deepEqual([map.lookup(key(3)), map.lookup(key(9))], [value(30), undefined]);
      assert.deepEqual([map.remove(key(3)), map.remove(key(3))], [true, false]);
      map.removeBatch(keys(9, 1, 8, 7, 4, 6));
      assert.deepEqual(content(map), [[2, 20]]);
      map.removeBatch(keys());
    }));
}

test('BPF-6 a map says its shape, and is found by its id', () =>
  withMap({}, map => {
    const info = mapInfo(map.fd);
    assert.deepEqual({ ...info, id: 0 }, { id: 0, type: 1, keyBytes: 4, valueBytes: 8, entries: 64, name: 'test' });
    const again = BpfMap.of(mapById(info.id), spec);
    again.update(key(1), value(2));
    again.close();
    assert.deepEqual(content(map), [[1, 2]]);
  }));

test('BPF-6 a map of another shape is not taken over, because the kernel would write past our buffers', () =>
  withMap({}, map => {
    for (const change of [{ type: 'array' }, { keyBytes: 8 }, { valueBytes: 4 }] as const) {
      assert.throws(() => BpfMap.of(map.fd, { ...spec, ...change }), {
        code: 'KERNEL_PROTOCOL',
        message: 'open BPF map test: the map has another shape, so another version made it',
      });
    }
  }));

test('BPF-6 buffers that do not have the lengths of the map are an error before the kernel reads them', () =>
  withMap({}, map => {
    for (const work of [
      () => map.update(key(1), Buffer.alloc(7)),
      () => map.update(Buffer.alloc(8), value(1)),
      () => map.updateBatch(keys(1, 2), values(1)),
      () => map.updateBatch(Buffer.alloc(5), values(1)),
      () => map.lookup(Buffer.alloc(3)),
      () => map.remove(Buffer.alloc(0)),
      () => map.removeBatch(Buffer.alloc(6)),
    ]) {
      assert.throws(
        work,
        /^RangeError: test: \d+ bytes of keys( and \d+ of values)? do not fit 4 and 8 bytes for each/,
      );
    }
    assert.deepEqual(content(map), []);
  }));

test('BPF-6 a hash map that is full refuses with E2BIG and keeps what it has', () =>
  withMap({ entries: 2 }, map => {
    map.updateBatch(keys(1, 2), values(1, 2));
    assert.equal(
      errnoOf(() => map.update(key(3), value(3))),
      'bpf MAP_UPDATE_ELEM test: E2BIG',
    );
    assert.equal(
      errnoOf(() => map.updateBatch(keys(1, 3, 4), values(5, 5, 5))),
      'bpf MAP_UPDATE_BATCH test: E2BIG',
    );
    assert.deepEqual(content(map), [
      [1, 5],
      [2, 2],
    ]);
  }));

test('BPF-6 all entries of a large map are read', () =>
  withMap({ entries: 50_000 }, map => {
    const numbers = Array.from({ length: 50_000 }, (_, i) => i * 7);
    map.updateBatch(keys(...numbers.slice(0, 25_000)), values(...numbers.slice(0, 25_000)));
    map.updateBatch(keys(...numbers.slice(25_000)), values(...numbers.slice(25_000)));
    assert.deepEqual(
      content(map),
      numbers.map(number => [number, number]),
    );
  }));

test('BPF-6 an empty map has no entries', () => withMap({}, map => assert.deepEqual(content(map), [])));

test('BPF-6 a per-CPU array has a number for each possible processor, and their sum', () =>
  withMap({ type: 'per-cpu array', entries: 3 }, map => {
    const cpus = countPossibleCpus();
    map.update(key(1), values(...Array.from({ length: cpus }, (_, i) => 100 + i)));
    assert.equal(map.lookup(key(1))?.length, 8 * cpus);
    const sum = 100 * cpus + (cpus * (cpus - 1)) / 2;
    assert.deepEqual(map.sums(), [0, sum, 0]);
  }));

test('BPF-6 a socket keeps a value as long as it lives', () => {
  const Peer = struct({ state: u32, zero: u32, namespace: u64 });
  withMap({ type: 'socket storage', valueBytes: bytesOf(Peer), entries: 0, value: Peer }, map => {
    const [AF_INET, SOCK_STREAM] = [2, 1];
    const fd = socket(AF_INET, SOCK_STREAM, 0);
    const peer = Buffer.alloc(bytesOf(Peer), 3);
    assert.equal(map.lookup(key(fd)), undefined);
    map.update(key(fd), peer);
    assert.deepEqual(map.lookup(key(fd)), peer);
    assert.deepEqual([map.remove(key(fd)), map.remove(key(fd))], [true, false]);
    map.update(key(fd), peer);
    close(fd);
    assert.equal(
      errnoOf(() => map.lookup(key(fd))),
      'bpf MAP_LOOKUP_ELEM test: EBADF',
    );
  });
});

test('BPF-6 a map that the kernel does not take says which one and why', () => {
  const create = (change: Partial<MapSpec>) => errnoOf(() => close(BpfMap.create({ ...spec, ...change }).fd));
  assert.equal(create({ entries: 0 }), 'bpf MAP_CREATE test: EINVAL');
  assert.equal(create({ type: 'socket storage', entries: 0 }), 'bpf MAP_CREATE test: EINVAL');
});
