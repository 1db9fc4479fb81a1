import { ipFromBytes } from '../../net/index.ts';
import { printProtocol } from './protocol.ts';

/**
 * nft's data types. The kernel only stores their numbers. nft prints keys and data by these numbers, so a set with a
 * wrong number works, but nft lists it wrongly. `type-N` stands for a type that is not in this table.
 */
export type DataType = keyof typeof TYPES | `type-${number}`;

/** A value of a type. Addresses and names are text, everything else is a number. */
export type DataValue = string | number;

/** BYTEORDER_* of nft: the order of the bytes of a number. */
export const ByteOrder = { NONE: 0, HOST: 1, BIG: 2 } as const;

interface TypeInfo {
  readonly number: number;
  /** In bytes. A component of a concatenation is padded to a multiple of four. */
  readonly size: number;
  readonly order: number;
}

const { HOST, BIG } = ByteOrder;

const TYPES = {
  // The kernel itself knows the number of the verdict type. A verdict takes no space in a register.
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

/** The number of a type or of a concatenation, which has six bits for each type. */
export function typeNumber(types: readonly DataType[]): number {
  return types.reduce((number, type) => ((number << BITS_PER_TYPE) | numberOf(type)) >>> 0, 0);
}

export function typesOf(number: number): readonly DataType[] {
  if (number === TYPES.verdict.number) return ['verdict'];
  const types: DataType[] = [];
  for (let rest = number; rest > 0; rest >>>= BITS_PER_TYPE) types.unshift(typeOf(rest & 0x3f));
  return types;
}

/** The bytes that a value or a concatenation takes in registers. */
export function dataSize(types: readonly DataType[]): number {
  const [only] = types;
  if (only !== undefined && types.length === 1) return sizeOf(only);
  return types.reduce((size, type) => size + padded(sizeOf(type)), 0);
}

/** The byte order of a single type. A concatenation has none, because each component has its own. */
export function byteOrder(types: readonly DataType[]): number {
  const [only] = types;
  return only !== undefined && types.length === 1 ? (typeInfos.get(only)?.order ?? ByteOrder.NONE) : ByteOrder.NONE;
}

/** The bytes of each component. The kernel needs them for a concatenation of intervals. */
export function fieldSizes(types: readonly DataType[]): readonly number[] {
  return types.map(sizeOf);
}

/** The bytes of each component without the padding. Undefined if there are too few bytes for the types. */
export function components(types: readonly DataType[], bytes: Buffer): Buffer[] | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (const type of types) {
    // The size of an unknown type is unknown. It takes the rest, which is right if it is the only type.
    const size = sizeOf(type) || bytes.length - at;
    if (size <= 0 || at + size > bytes.length) return undefined;
    parts.push(bytes.subarray(at, at + size));
    at += padded(size);
  }
  return parts;
}

/** `10.96.0.10 . tcp . 80`, as nft prints it. Bytes that do not fit the types are printed as one hexadecimal number. */
export function printData(types: readonly DataType[], bytes: Buffer): string {
  const parts = components(types, bytes);
  return parts ? parts.map((part, i) => printValue(types[i] ?? 'integer', part)).join(' . ') : hex(bytes);
}

/** Prints one component. */
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

/** Reads the value of one component. */
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

/** The bytes of one type. 0 for a verdict and for unknown types. */
export function sizeOf(type: DataType): number {
  return typeInfos.get(type)?.size ?? 0;
}

/** The size with padding. The components of a concatenation begin at multiples of four bytes. */
export function padded(size: number): number {
  return (size + 3) & ~3;
}

function hex(bytes: Buffer): string {
  return `0x${bytes.toString('hex') || '0'}`;
}
