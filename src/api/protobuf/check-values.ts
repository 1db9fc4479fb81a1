import { decodeProtocol } from '../decode-protocol.ts';
import type { Protocol } from '../objects.ts';
import type { ProtobufReader } from './reader.ts';

export const MAX_PORT = 65535;
export const MAX_INT32 = 0x7fffffff;

/** Reports a value that is out of range, and returns 0 for it. */
export function checkInteger(reader: ProtobufReader, value: number, name: string, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  reader.addProblems(fields => fields.integer(value, name, min, max));
  return 0;
}

/** The default is TCP. Reports an unknown protocol, and returns TCP for it. */
export function checkProtocol(reader: ProtobufReader, protocol: string | undefined): Protocol {
  switch (protocol) {
    case undefined:
      return 'TCP';
    case 'TCP':
    case 'UDP':
    case 'SCTP':
      return protocol;
    default:
      reader.addProblems(fields => decodeProtocol(fields, { protocol }));
      return 'TCP';
  }
}
