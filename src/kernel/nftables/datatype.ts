import { ipFromBytes } from '../../net/index.ts';
import { printProtocol } from './protocol.ts';

/**
 * nft's data types. The kernel only stores their numbers; nft prints keys and data by them, so a set with a wrong
 * number works and lists as nonsense. `type-N` stands for one that has no word here.
 */
export type DataType = keyof typeof TYPES | `type-${number}`;

/** One value of a type: addresses and names as text, everything else as a number. */
export type DataValue = string | number;

/** BYTEORDER_* of nft: how a value's bytes are read as a number. */
export const ByteOrder = { NONE: 0, HOST: 1, BIG: 2 } as const;

interface TypeInfo {
  readonly number: number;
  /** Bytes; a component of a concatenation is padded to four. */
  readonly size: number;
  readonly order: number;
}

const { HOST, BIG } = ByteOrder;

const TYPES = {
  // The kernel knows the verdict's number itself; it takes no room in a register.
  verdict: { number: 0xffffff00, size: 0, order: ByteOrder.NONE },
  nf_proto: { number: 2, size: 1, order: HOST },
  integer: { number: 4, size: 4, order: HOST },
  ipv4_addr: { number: 7, size: 4, order: BIG },
  ipv6_addr: { number: 8, size: 16, order: BIG },
  ether_addr: { number: 9, size: 6, order: HOST },
  ether_type: { number: 10, size: 2, order: BIG },
  inet_proto: { number: 12, size: 1, order: BIG },
  inet_service: { number: 13, size: 2, order: BIG },
  icmp_type: { number: 14, size: 1, order: BIG },
  tcp_flag: { number: 15, size: 1, order: HOST },
  mark: { number: 19, size: 4, order: HOST },
  iface_index: { number: 20, size: 4, order: HOST },
  realm: { number: 22, size: 4, order: HOST },
  uid: { number: 24, size: 4, order: HOST },
  gid: { number: 25, size: 4, order: HOST },
  ct_state: { number: 26, size: 4, order: HOST },
  ct_status: { number: 28, size: 4, order: HOST },
  icmpv6_type: { number: 29, size: 1, order: BIG },
  pkt_type: { number: 31, size: 1, order: HOST },
  devgroup: { number: 35, size: 4, order: HOST },
  fib_addrtype: { number: 38, size: 4, order: HOST },
  boolean: { number: 39, size: 1, order: HOST },
  ifname: { number: 41, size: 16, order: HOST },
} as const satisfies Record<string, TypeInfo>;

const typeInfos: ReadonlyMap<string, TypeInfo> = new Map(Object.entries(TYPES));
const names = new Map<number, DataType>(
  Object.entries(TYPES).map(([name, { number }]) => [number, name as keyof typeof TYPES]),
);

const BITS_PER_TYPE = 6;

/** The number of a type or of a concatenation of types, which has six bits for each. */
export function typeNumber(types: readonly DataType[]): number {
  return types.reduce((number, type) => ((number << BITS_PER_TYPE) | numberOf(type)) >>> 0, 0);
}

export function typesOf(number: number): readonly DataType[] {
  if (number === TYPES.verdict.number) return ['verdict'];
  const types: DataType[] = [];
  for (let rest = number; rest > 0; rest >>>= BITS_PER_TYPE) types.unshift(typeOf(rest & 0x3f));
  return types;
}

/** Bytes that a value, or a concatenation of them, takes in a register. */
export function dataSize(types: readonly DataType[]): number {
  const [only] = types;
  if (only !== undefined && types.length === 1) return sizeOf(only);
  return types.reduce((size, type) => size + padded(sizeOf(type)), 0);
}

/** Of a single type only: a concatenation has one in each part. */
export function byteOrder(types: readonly DataType[]): number {
  const [only] = types;
  return only !== undefined && types.length === 1 ? (typeInfos.get(only)?.order ?? ByteOrder.NONE) : ByteOrder.NONE;
}

/** Bytes of each component, which the kernel wants to know of a concatenation of intervals. */
export function fieldSizes(types: readonly DataType[]): readonly number[] {
  return types.map(sizeOf);
}

/** The bytes of each component without their padding; undefined if they are too few for the types. */
export function components(types: readonly DataType[], bytes: Buffer): Buffer[] | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (const type of types) {
    // A type without a word here has no known size: it takes the rest, which is right where it is the only one.
    const size = sizeOf(type) || bytes.length - at;
    if (size <= 0 || at + size > bytes.length) return undefined;
    parts.push(bytes.subarray(at, at + size));
    at += padded(size);
  }
  return parts;
}

/** As nft writes it: `10.96.0.10 . tcp . 80`. Bytes that do not fit the types come out as one number in hex. */
export function printData(types: readonly DataType[], bytes: Buffer): string {
  const parts = components(types, bytes);
  return parts ? parts.map((part, i) => printValue(types[i] ?? 'integer', part)).join(' . ') : hex(bytes);
}

/** One component. */
export function printValue(type: DataType, bytes: Buffer): string {
  switch (type) {
    case 'inet_proto':
      return printProtocol(bytes[0] ?? 0);
    case 'ifname':
      return `"${readValue(type, bytes)}"`;
    case 'mark':
    case 'realm':
    case 'ct_state':
    case 'ct_status':
    case 'tcp_flag':
      return hex(Buffer.from(bytes).reverse());
    default:
      return typeInfos.has(type) ? String(readValue(type, bytes)) : hex(bytes);
  }
}

/** The value of one component. */
export function readValue(type: DataType, bytes: Buffer): DataValue {
  switch (type) {
    case 'ipv4_addr':
    case 'ipv6_addr':
      return ipFromBytes(bytes) ?? hex(bytes);
    case 'ifname':
      return bytes.toString('utf8', 0, bytes.indexOf(0) < 0 ? bytes.length : bytes.indexOf(0));
    case 'ether_addr':
      return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(':');
    default: {
      const known = typeInfos.get(type);
      if (!known || bytes.length > 4) return hex(bytes);
      return known.order === BIG ? bytes.readUIntBE(0, bytes.length) : bytes.readUIntLE(0, bytes.length);
    }
  }
}

function numberOf(type: DataType): number {
  return typeInfos.get(type)?.number ?? Number(type.slice('type-'.length));
}

function typeOf(number: number): DataType {
  return names.get(number) ?? `type-${number}`;
}

/** Bytes of one type; none for a verdict and for types that have no word here. */
export function sizeOf(type: DataType): number {
  return typeInfos.get(type)?.size ?? 0;
}

/** Components of a concatenation begin at multiples of four bytes. */
export function padded(size: number): number {
  return (size + 3) & ~3;
}

function hex(bytes: Buffer): string {
  return `0x${bytes.toString('hex') || '0'}`;
}
