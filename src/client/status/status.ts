import { isRecord } from '../../lib/is-record.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { protobufFields } from './protobuf.ts';

/** A Kubernetes `Status`: an API server's description of an error. */
export interface Status {
  readonly message: string;
  /** `Forbidden`, `Expired`. */
  readonly reason: string;
  readonly code: number;
  readonly retryAfterSeconds?: number | undefined;
}

/** Precedes every object that an API server sends in protobuf. */
const MAGIC = Buffer.from('k8s\0');

/** Reads a Status in JSON or protobuf. Returns undefined if the bytes are something else. */
export function decodeStatus(bytes: Uint8Array): Status | undefined {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length)) ? fromProtobuf(bytes.subarray(MAGIC.length)) : fromJson(bytes);
}

function fromJson(bytes: Uint8Array): Status | undefined {
  let value: unknown;
  try {
    value = parseJson(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value.kind !== 'Status') return undefined;
  const details = isRecord(value.details) ? value.details : {};
  return {
    message: textOf(value.message),
    reason: textOf(value.reason),
    code: numberOf(value.code) ?? 0,
    retryAfterSeconds: numberOf(details.retryAfterSeconds) || undefined,
  };
}

/**
 * The fields of runtime.Unknown: 1 type, 2 object. The fields of Status: 3 message, 4 reason, 5 details (in it: 5
 * retryAfterSeconds), 6 code.
 */
function fromProtobuf(bytes: Uint8Array): Status | undefined {
  const unknown = fieldsOf(bytes);
  if (text(fieldsOf(unknown.get(1)).get(2)) !== 'Status') return undefined;
  const status = fieldsOf(unknown.get(2));
  return {
    message: text(status.get(3)),
    reason: text(status.get(4)),
    code: numberOf(status.get(6)) ?? 0,
    retryAfterSeconds: numberOf(fieldsOf(status.get(5)).get(5)) || undefined,
  };
}

function fieldsOf(value: number | Uint8Array | undefined): ReadonlyMap<number, number | Uint8Array> {
  if (!(value instanceof Uint8Array)) return new Map();
  return new Map(Array.from(protobufFields(value), field => [field.number, field.value]));
}

function text(value: number | Uint8Array | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
