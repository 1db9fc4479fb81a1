import { lengthKey, ProtobufReader } from './reader.ts';

const TYPE = lengthKey(1);
const OBJECT = lengthKey(2);
const RAW = lengthKey(1);

/** One event of a watch. */
export interface ProtobufWatchEvent {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`. */
  readonly type: string;
  /** An object in its envelope. */
  readonly object: Buffer;
}

export function decodeWatchEvent(bytes: Uint8Array): ProtobufWatchEvent | undefined {
  const reader = new ProtobufReader(bytes);
  let type = '';
  let object: Buffer | undefined;
  while (reader.next()) {
    if (reader.key === TYPE) type = reader.name();
    else if (reader.key === OBJECT) object = reader.message(decodeRawExtension) ?? object;
    else reader.skip();
  }
  return reader.broken || !object ? undefined : { type, object };
}

function decodeRawExtension(reader: ProtobufReader): Buffer | undefined {
  let raw: Buffer | undefined;
  while (reader.next()) {
    if (reader.key === RAW) raw = reader.bytes();
    else reader.skip();
  }
  return raw;
}
