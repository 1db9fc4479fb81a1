import type { TypeMeta } from '../decode.ts';
import { Chunks } from './chunks.ts';
import { lengthKey, ProtobufReader } from './reader.ts';
import { decodeTypeMeta, MAGIC, RAW, TYPE_META } from './unknown.ts';

const LIST_META = lengthKey(1);
const ITEMS = lengthKey(2);
/** Far above what an API server stores as one object: more is no item, and would be held in memory. */
const LONGEST_FIELD = 32 << 20;

/** `rest` is the envelope behind the list. */
type Place = 'start' | 'envelope' | 'list' | 'rest';

/**
 * Reads the answer to a list while it comes in. All objects of a cluster can be in one answer: only those that are not
 * complete yet are held.
 */
export class ListBody {
  type: TypeMeta = { apiVersion: '', kind: '' };
  resourceVersion = '';
  /** Not empty if there is more to ask for. */
  continueToken = '';
  /** What came is no list. */
  broken = false;
  readonly #chunks = new Chunks();
  #place: Place = 'start';
  /** Bytes of the list that are still to come. */
  #listLeft = 0;
  #wanted = 1;

  /** The body may only end where this is true. */
  get complete(): boolean {
    return this.#place === 'rest' && this.#chunks.empty;
  }

  /** Calls `emit` for each item that is complete. */
  push(chunk: Uint8Array, emit: (item: Buffer) => void): void {
    const bytes = this.broken ? undefined : this.#chunks.take(chunk);
    if (!bytes) return;
    let at = 0;
    while (at < bytes.length) {
      const read = this.#read(bytes, at, emit);
      if (this.broken) return;
      if (read === 0) break;
      at += read;
    }
    this.#chunks.keep(bytes.subarray(at), at < bytes.length ? this.#wanted : 1);
  }

  /** How many bytes were read; 0 if more must come. */
  #read(bytes: Buffer, at: number, emit: (item: Buffer) => void): number {
    if (this.#place === 'start') return this.#readMagic(bytes);
    const header = readHeader(bytes, at);
    if (header === 'short') return this.#want(bytes.length - at + 1);
    if (header === 'broken') return this.#break();
    const { key, start, length } = header;
    if (this.#place === 'envelope' && key === RAW) return this.#enterList(start - at, length);
    const size = start - at + length;
    if (length > LONGEST_FIELD || (this.#place === 'list' && size > this.#listLeft)) return this.#break();
    if (bytes.length - at < size) return this.#want(size);
    const value = bytes.subarray(start, start + length);
    if (this.#place === 'list') this.#readList(key, value, size, emit);
    else if (key === TYPE_META) this.type = decodeTypeMeta(new ProtobufReader(value));
    return size;
  }

  #readMagic(bytes: Buffer): number {
    if (bytes.length < MAGIC.length) return this.#want(MAGIC.length);
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return this.#break();
    this.#place = 'envelope';
    return MAGIC.length;
  }

  #enterList(size: number, length: number): number {
    this.#listLeft = length;
    this.#place = length > 0 ? 'list' : 'rest';
    return size;
  }

  #readList(key: number, value: Buffer, size: number, emit: (item: Buffer) => void): void {
    if (key === LIST_META) this.#readListMeta(new ProtobufReader(value));
    else if (key === ITEMS) emit(value);
    this.#listLeft -= size;
    if (this.#listLeft === 0) this.#place = 'rest';
  }

  #readListMeta(reader: ProtobufReader): void {
    while (reader.next()) {
      if (reader.key === RESOURCE_VERSION) this.resourceVersion = reader.string();
      else if (reader.key === CONTINUE) this.continueToken = reader.string();
      else reader.skip();
    }
    this.broken ||= reader.broken;
  }

  #want(wanted: number): 0 {
    this.#wanted = wanted;
    return 0;
  }

  #break(): 0 {
    this.broken = true;
    return 0;
  }
}

const RESOURCE_VERSION = lengthKey(2);
const CONTINUE = lengthKey(3);

interface Header {
  readonly key: number;
  /** Where the value begins. */
  readonly start: number;
  readonly length: number;
}

/** Lists and their envelopes have no fields but those with a length. */
function readHeader(bytes: Buffer, at: number): Header | 'short' | 'broken' {
  const key = readVarint(bytes, at);
  if (typeof key === 'string') return key;
  const length = readVarint(bytes, key.end);
  if (typeof length === 'string') return length;
  if ((key.value & 7) !== 2) return 'broken';
  return { key: key.value, start: length.end, length: length.value };
}

const LONGEST_VARINT = 5;

function readVarint(bytes: Buffer, at: number): { value: number; end: number } | 'short' | 'broken' {
  let value = 0;
  for (let i = 0; i < LONGEST_VARINT; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return 'short';
    value += (byte & 0x7f) * 128 ** i;
    if (byte < 0x80) return { value, end: at + i + 1 };
  }
  return 'broken';
}
