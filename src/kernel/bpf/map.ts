import { countPossibleCpus } from '../cpus.ts';
import { KernelError } from '../errors.ts';
import { close } from '../libc.ts';
import { loadBtf } from './btf-load.ts';
import { BtfWriter } from './btf-writer.ts';
import { bpfError } from './error.ts';
import { MAP_FLAGS, MAP_TYPES, type MapSpec } from './map-spec.ts';
import { MappedArray } from './mapped-array.ts';
import { mapInfo, objectName } from './object-info.ts';
import type { Struct } from './struct.ts';
import { bpf, callBpf } from './system-call.ts';

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
        flags: MAP_FLAGS[spec.type],
        name: objectName(spec.name),
        ...types,
      });
      return new BpfMap(fd, spec);
    } finally {
      if (types) close(types.btf);
    }
  }

  /**
   * Takes a descriptor over. Throws a KernelError if the map has another shape, because the kernel would write more
   * bytes than there is room for.
   */
  static of(fd: number, spec: MapSpec): BpfMap {
    const { type, keyBytes, valueBytes } = mapInfo(fd);
    if (type !== MAP_TYPES[spec.type] || keyBytes !== spec.keyBytes || valueBytes !== spec.valueBytes) {
      const reason = `the map has another shape, so another version made it`;
      throw new KernelError('KERNEL_PROTOCOL', { operation: `open BPF map ${spec.name}`, reason });
    }
    return new BpfMap(fd, spec);
  }

  update(key: Buffer, value: Buffer): void {
    this.#checkLengths(1, key, value);
    bpf('MAP_UPDATE_ELEM', this.spec.name, { map: this.fd, key, value });
  }

  /** Returns false if there is no such key. */
  remove(key: Buffer): boolean {
    this.#checkLengths(1, key);
    const { errno } = callBpf('MAP_DELETE_ELEM', { map: this.fd, key });
    if (errno !== undefined && errno !== 'ENOENT') throw bpfError('MAP_DELETE_ELEM', this.spec.name, errno);
    return errno === undefined;
  }

  /** A per-CPU map has the values of all processors one after another. */
  lookup(key: Buffer): Buffer | undefined {
    this.#checkLengths(1, key);
    const value = Buffer.alloc(this.#valueBytes);
    const { errno } = callBpf('MAP_LOOKUP_ELEM', { map: this.fd, key, value });
    if (errno !== undefined && errno !== 'ENOENT') throw bpfError('MAP_LOOKUP_ELEM', this.spec.name, errno);
    return errno === undefined ? value : undefined;
  }

  /** Adds or replaces entries. After E2BIG, the entries before the one that had no room are written. */
  updateBatch(keys: Buffer, values: Buffer): void {
    const count = Math.ceil(keys.length / this.spec.keyBytes);
    this.#checkLengths(count, keys, values);
    if (count > 0) bpf('MAP_UPDATE_BATCH', this.spec.name, { map: this.fd, keys, values, count });
  }

  /** Removes entries. A key that is not there is no error. */
  removeBatch(keys: Buffer): void {
    const { keyBytes, name } = this.spec;
    this.#checkLengths(Math.ceil(keys.length / keyBytes), keys);
    for (let rest = keys; rest.length > 0; ) {
      const count = rest.length / keyBytes;
      const { errno, attributes } = callBpf('MAP_DELETE_BATCH', { map: this.fd, keys: rest, count });
      if (errno === undefined) return;
      if (errno !== 'ENOENT') throw bpfError('MAP_DELETE_BATCH', name, errno);
      // The kernel stops at a missing key and says how many it removed before.
      rest = rest.subarray((attributes.number('count') + 1) * keyBytes);
    }
  }

  /** All entries of a hash map or an array. While programs change the map, some of their changes may be missing. */
  entries(): Entries {
    const parts = [...this.#parts()];
    return { keys: Buffer.concat(parts.map(part => part.keys)), values: Buffer.concat(parts.map(part => part.values)) };
  }

  /**
   * For a per-CPU array of 64-bit numbers: the sum of all processors for each element, and at least for the first
   * `count` elements. Sums are below 2⁵³.
   */
  sums(count = this.spec.entries): readonly number[] {
    const sums: number[] = [];
    for (const { values } of this.#parts()) {
      const halves = new Uint32Array(values.buffer, values.byteOffset, values.length / 4);
      for (let at = 0; at < halves.length; at += this.#valueBytes / 4) sums.push(this.#sumAt(halves, at));
      if (sums.length >= count) break;
    }
    return sums;
  }

  /** Bigints would take a second for all Services on a machine with many processors. */
  #sumAt(halves: Uint32Array, start: number): number {
    let sum = 0;
    for (let at = start; at < start + this.#valueBytes / 4; at += 2) {
      sum += (halves[at] ?? 0) + (halves[at + 1] ?? 0) * 2 ** 32;
    }
    return sum;
  }

  /** The memory of an array map. It stays valid after the map's descriptor is closed. */
  mapped(): MappedArray {
    return new MappedArray(this.fd, this.spec);
  }

  close(): void {
    close(this.fd);
  }

  *#parts(): Generator<Entries, void> {
    let count = BATCH;
    let position: Buffer | undefined;
    for (;;) {
      const part = this.#readBatch(position, count);
      if (part === 'too small') {
        count *= 2;
        continue;
      }
      yield part;
      if (!part.next) return;
      position = part.next;
    }
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

  /** The kernel reads as many bytes as the map's shape says, whatever length a buffer has. */
  #checkLengths(count: number, keys: Buffer, values?: Buffer): void {
    const { keyBytes, name } = this.spec;
    if (keys.length === count * keyBytes && (!values || values.length === count * this.#valueBytes)) return;
    const given = `${keys.length} bytes of keys${values ? ` and ${values.length} of values` : ''}`;
    throw new RangeError(`${name}: ${given} do not fit ${keyBytes} and ${this.#valueBytes} bytes for each entry`);
  }
}

/** The types of the key and the value of socket storage, whose key is a descriptor. */
function valueTypes(value: Struct): { readonly btf: number; readonly keyType: number; readonly valueType: number } {
  const writer = new BtfWriter();
  const keyType = writer.int('int', 4, true);
  const valueType = writer.struct('value', value);
  return { btf: loadBtf(writer.bytes()), keyType, valueType };
}
