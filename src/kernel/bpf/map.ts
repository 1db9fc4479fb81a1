import { countPossibleCpus } from '../cpus.ts';
import { close } from '../libc.ts';
import { loadBtf } from './btf-load.ts';
import { BtfWriter } from './btf-writer.ts';
import { bpfError } from './error.ts';
import { MappedArray } from './mapped-array.ts';
import { objectName } from './object-info.ts';
import type { Struct } from './struct.ts';
import { bpf, callBpf } from './system-call.ts';

/** Types of maps as in `linux/bpf.h`. */
const MAP_TYPES = { hash: 1, array: 2, 'per-cpu array': 6, 'lru hash': 9, 'socket storage': 24 } as const;
export type MapType = keyof typeof MAP_TYPES;

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

/** Keys and values, each one after another. */
export interface Entries {
  readonly keys: Buffer;
  readonly values: Buffer;
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
    const types = spec.value && valueTypes(spec.value);
    try {
      const fd = bpf('MAP_CREATE', spec.name, {
        type: MAP_TYPES[spec.type],
        keySize: spec.keyBytes,
        valueSize: spec.valueBytes,
        maxEntries: spec.entries,
        flags: FLAGS[spec.type],
        name: objectName(spec.name),
        ...types,
      });
      return new BpfMap(fd, spec);
    } finally {
      if (types) close(types.btf);
    }
  }

  /** Takes a descriptor over. */
  static of(fd: number, spec: MapSpec): BpfMap {
    return new BpfMap(fd, spec);
  }

  update(key: Buffer, value: Buffer): void {
    bpf('MAP_UPDATE_ELEM', this.spec.name, { map: this.fd, key, value });
  }

  /** Returns false if there is no such key. */
  remove(key: Buffer): boolean {
    const { errno } = callBpf('MAP_DELETE_ELEM', { map: this.fd, key });
    if (errno !== undefined && errno !== 'ENOENT') throw bpfError('MAP_DELETE_ELEM', this.spec.name, errno);
    return errno === undefined;
  }

  /** A per-CPU map has the values of all processors one after another. */
  lookup(key: Buffer): Buffer | undefined {
    const value = Buffer.alloc(this.#valueBytes);
    const { errno } = callBpf('MAP_LOOKUP_ELEM', { map: this.fd, key, value });
    if (errno !== undefined && errno !== 'ENOENT') throw bpfError('MAP_LOOKUP_ELEM', this.spec.name, errno);
    return errno === undefined ? value : undefined;
  }

  /** Adds or replaces entries. After E2BIG, the entries before the one that had no room are written. */
  updateBatch(keys: Buffer, values: Buffer): void {
    const count = this.#count(keys);
    if (count > 0) bpf('MAP_UPDATE_BATCH', this.spec.name, { map: this.fd, keys, values, count });
  }

  /** Removes entries. A key that is not there is no error. */
  removeBatch(keys: Buffer): void {
    for (let rest = keys; rest.length > 0; ) {
      const { errno, attributes } = callBpf('MAP_DELETE_BATCH', { map: this.fd, keys: rest, count: this.#count(rest) });
      if (errno === undefined) return;
      if (errno !== 'ENOENT') throw bpfError('MAP_DELETE_BATCH', this.spec.name, errno);
      // The kernel stops at a missing key and says how many it removed before.
      rest = rest.subarray((attributes.number('count') + 1) * this.spec.keyBytes);
    }
  }

  /** All entries of a hash map or an array. While programs change the map, some of their changes may be missing. */
  entries(): Entries {
    const [keys, values]: [Buffer[], Buffer[]] = [[], []];
    let count = BATCH;
    let position: Buffer | undefined;
    for (;;) {
      const part = this.#readBatch(position, count);
      if (part === 'too small') {
        count *= 2;
        continue;
      }
      keys.push(part.keys);
      values.push(part.values);
      if (!part.next) return { keys: Buffer.concat(keys), values: Buffer.concat(values) };
      position = part.next;
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

  /** A bucket of a hash map comes whole: a batch that is smaller than a bucket is too small. */
  #readBatch(position: Buffer | undefined, most: number): (Entries & { readonly next?: Buffer }) | 'too small' {
    const { keyBytes, name } = this.spec;
    const [keys, values] = [Buffer.alloc(most * keyBytes), Buffer.alloc(most * this.#valueBytes)];
    const next = Buffer.alloc(Math.max(4, keyBytes));
    const answer = { map: this.fd, position, nextPosition: next, keys, values, count: most };
    const { errno, attributes } = callBpf('MAP_LOOKUP_BATCH', answer);
    if (errno === 'ENOSPC') return 'too small';
    if (errno !== undefined && errno !== 'ENOENT') throw bpfError('MAP_LOOKUP_BATCH', name, errno);
    const count = attributes.number('count');
    const part = { keys: keys.subarray(0, count * keyBytes), values: values.subarray(0, count * this.#valueBytes) };
    return errno === 'ENOENT' ? part : { ...part, next };
  }

  #count(keys: Buffer): number {
    return keys.length / this.spec.keyBytes;
  }
}

/** The types of the key and the value of socket storage, whose key is a descriptor. */
function valueTypes(value: Struct): { readonly btf: number; readonly keyType: number; readonly valueType: number } {
  const writer = new BtfWriter();
  const keyType = writer.int('int', 4, true);
  const valueType = writer.struct('value', value);
  return { btf: loadBtf(writer.bytes()), keyType, valueType };
}
