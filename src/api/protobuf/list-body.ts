import type { TypeMeta } from '../decode.ts';
import { Chunks } from './chunks.ts';
import { decodeTypeMeta, MAGIC, RAW, TYPE_META } from './envelope.ts';
import { lengthKey, ProtobufReader } from './reader.ts';

const LIST_META = lengthKey(1);
const ITEMS = lengthKey(2);
/** Limits memory. It is far above the largest object that an API server stores. */
const MAX_FIELD_BYTES = 32 << 20;

/** `rest` is the part of the envelope after the list. */
type Place = 'start' | 'envelope' | 'list' | 'rest';

/**
 * Reads the response to a list request while it arrives. It may have all objects of a cluster, so only the incomplete
 * one is in memory.
 */
export class ListBody {
  type: TypeMeta = { apiVersion: '', kind: '' };
  resourceVersion = '';
  /** Not empty if the server has more items. */
  continueToken = '';
  /** The bytes are not a list. */
  broken = false;
  readonly #chunks = new Chunks();
  #place: Place = 'start';
  /** The number of bytes of the list that are still to come. */
  #listLeft = 0;
  #wanted = 1;

  /** True where the body may end. */
  get complete(): boolean {
    return this.#place === 'rest' && this.#chunks.isEmpty;
  }

  /** Calls `emit` for each complete item. */
  push(chunk: Uint8Array, emit: (item: Buffer) => void): void {
    const bytes = this.broken ? undefined : this.#chunks.add(chunk);
    if (!bytes) return;
    let at = 0;
    while (at < bytes.length) {
      const read = this.#read(bytes, at, emit);
      if (this.broken) return;
      if (read === 0) break;
      at += read;
    }
    this.#chunks.putBack(bytes.subarray(at), at < bytes.length ? this.#wanted : 1);
  }

  /** Returns the number of bytes that were read. 0 means that more bytes must come first. */
  #read(bytes: Buffer, at: number, emit: (item: Buffer) => void): number {
    if (this.#place === 'start') return this.#readMagic(bytes);
    const header = readHeader(bytes, at);
    if (header === 'short') return this.#want(bytes.length - at + 1);
    if (header === 'broken') return this.#break();
    const { key, start, length } = header;
    if (this.#place === 'envelope' && key === RAW) return this.#enterList(start - at, length);
    const size = start - at + length;
    if (length > MAX_FIELD_BYTES || (this.#place === 'list' && size > this.#listLeft)) return this.#break();
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

/** All fields of lists and envelopes have a length. */
function readHeader(bytes: Buffer, at: number): Header | 'short' | 'broken' {
  const key = readVarint(bytes, at);
  if (typeof key === 'string') return key;
  const length = readVarint(bytes, key.end);
  if (typeof length === 'string') return length;
  if ((key.value & 7) !== 2) return 'broken';
  return { key: key.value, start: length.end, length: length.value };
}

const MAX_VARINT_BYTES = 5;

function readVarint(bytes: Buffer, at: number): { value: number; end: number } | 'short' | 'broken' {
  let value = 0;
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return 'short';
    value += (byte & 0x7f) * 128 ** i;
    if (byte < 0x80) return { value, end: at + i + 1 };
  }
  return 'broken';
}
