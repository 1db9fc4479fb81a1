import { countPossibleCpus } from '../cpus.ts';
import { close } from '../libc.ts';
import { BtfWriter, loadBtf } from './btf.ts';
import { MappedArray } from './mapped-array.ts';
import { bytesOf, type Struct } from './struct.ts';
import { Attributes, bpf, bpfError, tryBpf } from './system-call.ts';

/** Types of maps as in `linux/bpf.h`. */
const MapType = { hash: 1, array: 2, 'per-cpu array': 6, 'lru hash': 9, 'socket storage': 24 } as const;
export type MapType = keyof typeof MapType;

const Flag = { NO_PREALLOC: 1, MMAPABLE: 1 << 10 } as const;
const FLAGS: Readonly<Record<MapType, number>> = {
  hash: Flag.NO_PREALLOC,
  array: Flag.MMAPABLE,
  'per-cpu array': 0,
  'lru hash': 0,
  'socket storage': Flag.NO_PREALLOC,
};

export interface MapSpec {
  /** The kernel shows the first 15 characters. */
  readonly name: string;
  readonly type: MapType;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** The most entries. Socket storage has no such limit: 0. */
  readonly entries: number;
  /** The value's type. Socket storage needs it. */
  readonly value?: Struct | undefined;
}

/** How many entries the kernel gives at once. */
const BATCH = 8192;

/** A map of the kernel, held by a descriptor. */
export class BpfMap {
  readonly fd: number;
  readonly spec: MapSpec;
  /** How many bytes the kernel gives for a value. */
  readonly #valueBytes: number;

  private constructor(fd: number, spec: MapSpec) {
    this.fd = fd;
    this.spec = spec;
    const { type, valueBytes } = spec;
    this.#valueBytes = type === 'per-cpu array' ? Math.ceil(valueBytes / 8) * 8 * countPossibleCpus() : valueBytes;
  }

  static create(spec: MapSpec): BpfMap {
    const { name, type, keyBytes, valueBytes, entries } = spec;
    const attributes = new Attributes(80).u32(0, MapType[type]).u32(4, keyBytes).u32(8, valueBytes).u32(12, entries);
    attributes.u32(16, FLAGS[type]).name(28, name);
    const btf = spec.value && valueType(spec.value);
    if (btf) attributes.u32(48, btf.fd).u32(52, btf.key).u32(56, btf.value);
    try {
      return new BpfMap(bpf('MAP_CREATE', name, attributes), spec);
    } finally {
      if (btf) close(btf.fd);
    }
  }

  /** Takes a descriptor over. */
  static of(fd: number, spec: MapSpec): BpfMap {
    return new BpfMap(fd, spec);
  }

  update(key: Buffer, value: Buffer): void {
    bpf('MAP_UPDATE_ELEM', this.spec.name, this.#element(key, value));
  }

  /** Returns false if there is no such key. */
  remove(key: Buffer): boolean {
    const result = tryBpf('MAP_DELETE_ELEM', this.#element(key, undefined));
    if (typeof result === 'number') return true;
    if (result.errno === 'ENOENT') return false;
    throw bpfError('MAP_DELETE_ELEM', this.spec.name, result.errno);
  }

  /** A per-CPU map has the values of all processors one after another. */
  lookup(key: Buffer): Buffer | undefined {
    const value = Buffer.alloc(this.#valueBytes);
    const result = tryBpf('MAP_LOOKUP_ELEM', this.#element(key, value));
    if (typeof result === 'number') return value;
    if (result.errno === 'ENOENT') return undefined;
    throw bpfError('MAP_LOOKUP_ELEM', this.spec.name, result.errno);
  }

  /** Keys and values stand one after another. */
  updateBatch(keys: Buffer, values: Buffer): void {
    const count = keys.length / this.spec.keyBytes;
    if (count === 0) return;
    const attributes = new Attributes(56).pointer(16, keys).pointer(24, values).u32(32, count).u32(36, this.fd);
    bpf('MAP_UPDATE_BATCH', this.spec.name, attributes);
  }

  /** Keys stand one after another. A key that is not there is no error. */
  removeBatch(keys: Buffer): void {
    const { keyBytes, name } = this.spec;
    for (let rest = keys; rest.length > 0; ) {
      const attributes = new Attributes(56)
        .pointer(16, rest)
        .u32(32, rest.length / keyBytes)
        .u32(36, this.fd);
      const result = tryBpf('MAP_DELETE_BATCH', attributes);
      if (typeof result === 'number') return;
      if (result.errno !== 'ENOENT') throw bpfError('MAP_DELETE_BATCH', name, result.errno);
      // The kernel stops at a missing key and says how many it removed before.
      rest = rest.subarray((attributes.bytes.readUInt32LE(32) + 1) * keyBytes);
    }
  }

  /** All keys and values of a hash map or an array, one after another. */
  entries(): { readonly keys: Buffer; readonly values: Buffer } {
    const { keyBytes, name } = this.spec;
    const valueBytes = this.#valueBytes;
    const [keys, values]: [Buffer[], Buffer[]] = [[], []];
    let most = BATCH;
    let position: Buffer | undefined;
    for (;;) {
      const [k, v, next] = [
        Buffer.alloc(most * keyBytes),
        Buffer.alloc(most * valueBytes),
        Buffer.alloc(Math.max(4, keyBytes)),
      ];
      const attributes = new Attributes(56).pointer(0, position).pointer(8, next).pointer(16, k).pointer(24, v);
      attributes.u32(32, most).u32(36, this.fd);
      const result = tryBpf('MAP_LOOKUP_BATCH', attributes);
      const errno = typeof result === 'number' ? undefined : result.errno;
      if (errno === 'ENOSPC') {
        most *= 2;
        continue;
      }
      if (errno !== undefined && errno !== 'ENOENT') throw bpfError('MAP_LOOKUP_BATCH', name, errno);
      const count = attributes.bytes.readUInt32LE(32);
      keys.push(k.subarray(0, count * keyBytes));
      values.push(v.subarray(0, count * valueBytes));
      if (errno === 'ENOENT') return { keys: Buffer.concat(keys), values: Buffer.concat(values) };
      position = next;
    }
  }

  /** For a per-CPU array of 64-bit numbers: the sum of all processors for each element. */
  sums(): readonly bigint[] {
    const { values } = this.entries();
    const perElement = this.#valueBytes / 8;
    const sums = new Array<bigint>(values.length / this.#valueBytes);
    for (let i = 0; i < sums.length; i++) {
      let sum = 0n;
      for (let n = 0; n < perElement; n++) sum += values.readBigUInt64LE((i * perElement + n) * 8);
      sums[i] = sum;
    }
    return sums;
  }

  /** The memory of an array map. It stays valid after the map's descriptor is closed. */
  mapped(): MappedArray {
    return new MappedArray(this.fd, this.spec);
  }

  close(): void {
    close(this.fd);
  }

  #element(key: Buffer, value: Buffer | undefined): Attributes {
    return new Attributes(32).u32(0, this.fd).pointer(8, key).pointer(16, value);
  }
}

function valueType(value: Struct): { readonly fd: number; readonly key: number; readonly value: number } {
  const btf = new BtfWriter();
  const key = btf.int('int', 4, true);
  const type = btf.struct('value', value);
  if (bytesOf(value) === 0) throw new RangeError('a value has no bytes');
  return { fd: loadBtf(btf.bytes()), key, value: type };
}
