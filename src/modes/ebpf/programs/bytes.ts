import { bytesOf, type Field, type Struct } from '../../../kernel/bpf/index.ts';
import { type Family, familyOf, type Ip, ipFromBytes } from '../../../net/index.ts';

/** What an element of a map leads to, or comes from. */
export interface Endpoint {
  readonly ip: Ip;
  readonly port: number;
}

/** A structure of each family, because IPv4 and IPv6 have maps of their own. */
export type ByFamily<Name extends string> = Readonly<Record<Family, Struct<Name>>>;

export function structOf<Name extends string>(ip: Ip, structs: ByFamily<Name>): Struct<Name> {
  return structs[familyOf(ip)];
}

/** The family of a structure that has `length` bytes. */
export function familyOfLength(length: number, structs: ByFamily<string>): Family {
  return length === bytesOf(structs.IPv4) ? 'IPv4' : 'IPv6';
}

/** Encodes one value into a buffer of its own. */
export function encoded(length: number, write: (into: Buffer, at: number) => void): Buffer {
  const bytes = Buffer.alloc(length);
  write(bytes, 0);
  return bytes;
}

/** The address that begins at an offset. */
export function readIp(bytes: Buffer, at: number, family: Family): Ip {
  const ip = ipFromBytes(bytes.subarray(at, at + (family === 'IPv4' ? 4 : 16)));
  if (ip === undefined) throw new RangeError(`no address at byte ${at} of ${bytes.length}`);
  return ip;
}

// These functions store single bytes because generations write hundreds of thousands of fields: the methods of Buffer check
// their arguments, and Node takes long to compile them.

/** Ports are in network byte order. */
export function writePort(into: Uint8Array, at: number, { offset }: Field, port: number): void {
  into[at + offset] = port >>> 8;
  into[at + offset + 1] = port;
}

/** Numbers are in the order of the machine. */
export function writeNumber(into: Uint8Array, at: number, { offset }: Field, number: number): void {
  const start = at + offset;
  into[start] = number;
  into[start + 1] = number >>> 8;
  into[start + 2] = number >>> 16;
  into[start + 3] = number >>> 24;
}
