import { decodeProtocol } from '../decode-protocol.ts';
import type { Protocol } from '../objects.ts';
import type { ProtobufReader } from './reader.ts';

export const MAX_PORT = 65535;
export const MAX_INT32 = 0x7fffffff;

export function checkedInteger(reader: ProtobufReader, value: number, name: string, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  reader.refuse(fields => fields.integer(value, name, min, max));
  return 0;
}

/** Absent means TCP. */
export function checkedProtocol(reader: ProtobufReader, protocol: string | undefined): Protocol {
  switch (protocol) {
    case undefined:
      return 'TCP';
    case 'TCP':
    case 'UDP':
    case 'SCTP':
      return protocol;
    default:
      reader.refuse(fields => decodeProtocol(fields, { protocol }));
      return 'TCP';
  }
}
