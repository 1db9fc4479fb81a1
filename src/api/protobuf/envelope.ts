import type { TypeMeta } from '../decode.ts';
import { asBuffer, lengthKey, ProtobufReader } from './reader.ts';

/** The bytes that an API server sends before every protobuf object. */
export const MAGIC = Buffer.from('k8s\0');

export const TYPE_META = lengthKey(1);
export const RAW = lengthKey(2);

/** An object in its envelope (`runtime.Unknown` in Kubernetes). */
export interface Envelope {
  readonly type: TypeMeta;
  readonly raw: Buffer;
}

export function decodeEnvelope(bytes: Uint8Array): Envelope | undefined {
  const buffer = asBuffer(bytes);
  if (!buffer.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const reader = new ProtobufReader(buffer.subarray(MAGIC.length));
  let type: TypeMeta = { apiVersion: '', kind: '' };
  let raw: Buffer | undefined;
  while (reader.next()) {
    if (reader.key === TYPE_META) type = reader.message(decodeTypeMeta);
    else if (reader.key === RAW) raw = reader.bytes();
    else reader.skip();
  }
  return reader.broken || !raw ? undefined : { type, raw };
}

const API_VERSION = lengthKey(1);
const KIND = lengthKey(2);

export function decodeTypeMeta(reader: ProtobufReader): TypeMeta {
  let apiVersion = '';
  let kind = '';
  while (reader.next()) {
    if (reader.key === API_VERSION) apiVersion = reader.name();
    else if (reader.key === KIND) kind = reader.name();
    else reader.skip();
  }
  return { apiVersion, kind };
}
