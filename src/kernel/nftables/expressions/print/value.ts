import { ipFromBytes } from '../../../../net/index.ts';
import { printDuration } from '../../duration.ts';
import { printProtocol } from '../../protocol.ts';
import { hex32 } from '../data.ts';
import { type BitmaskType, bitSymbols, type SymbolType, symbols } from '../symbols.ts';

/** How to print a value in a rule. These are nft's data types, but types with the same text are one type here. */
export type ValueType =
  | SymbolType
  | BitmaskType
  | 'ipv4_addr'
  | 'ipv6_addr'
  | 'ether_addr'
  | 'inet_proto'
  | 'inet_service'
  | 'string'
  | 'mark'
  | 'integer'
  | 'hex'
  | 'iface_index'
  | 'devgroup'
  | 'tc_handle'
  | 'time';

/** Whether a number is in the machine's byte order or in network byte order. */
export type Order = 'host' | 'network';

export function printValue(type: ValueType, data: Buffer, order: Order): string {
  switch (type) {
    case 'ipv4_addr':
      return ipFromBytes(data) ?? printHex(data, 'network');
    case 'ipv6_addr':
      return printIpv6(data);
    case 'ether_addr':
      return Array.from(data, byte => byte.toString(16).padStart(2, '0')).join(':');
    case 'string':
      return printString(data);
    case 'hex':
      return printHex(data, order);
    default:
      return printNumber(type, readNumber(data, order), order);
  }
}

/** `10.244.0.0/16`: an address with a prefix of `bits` bits. `data` may lack the bytes after the prefix. */
export function printPrefix(type: 'ipv4_addr' | 'ipv6_addr', data: Buffer, bits: number): string {
  const whole = Buffer.alloc(type === 'ipv4_addr' ? 4 : 16);
  data.copy(whole);
  return `${printValue(type, whole, 'network')}/${bits}`;
}

/** The first letters of a name: `"veth*"`. */
export function printWildcard(data: Buffer): string {
  return `"${data.toString('utf8')}*"`;
}

/** The names of the bits that are set, or the number if a bit has no name. */
export function printBits(type: BitmaskType, bits: number): string {
  const named = Object.entries<number>(bitSymbols[type]).filter(([, bit]) => bits & bit);
  const known = named.reduce((all, [, bit]) => all | bit, 0);
  return bits !== 0 && known === bits ? named.map(([name]) => name).join(',') : `0x${bits.toString(16)}`;
}

export function isBitmask(type: ValueType): type is BitmaskType {
  return Object.hasOwn(bitSymbols, type);
}

/** The value as a number of any size. */
export function readNumber(data: Buffer, order: Order): bigint {
  const bytes = order === 'network' ? data : Buffer.from(data).reverse();
  return BigInt(`0x${bytes.toString('hex') || '0'}`);
}

type NumberType = Exclude<ValueType, 'ipv4_addr' | 'ipv6_addr' | 'ether_addr' | 'string' | 'hex'>;

function printNumber(type: NumberType, value: bigint, order: Order): string {
  if (isBitmask(type)) return printBits(type, Number(value));
  switch (type) {
    case 'inet_proto':
      return printProtocol(Number(value));
    case 'mark':
      return hex32(Number(value));
    case 'time':
      return printDuration(Number(value));
    case 'iface_index':
      // Only the index of lo is the same in every network namespace.
      return value === 1n ? '"lo"' : String(value);
    case 'devgroup':
      return value === 0n ? '"default"' : String(value);
    case 'tc_handle':
      return printHandle(Number(value));
    case 'dscp':
      return symbolFor(type, value) ?? `0x${value.toString(16).padStart(2, '0')}`;
    case 'inet_service':
    case 'integer':
      return String(value);
    default:
      return symbolFor(type, value) ?? (order === 'network' ? `0x${value.toString(16)}` : String(value));
  }
}

function symbolFor(type: SymbolType, value: bigint): string | undefined {
  return Object.entries<number>(symbols[type]).find(([, number]) => BigInt(number) === value)?.[0];
}

/** A traffic control class, `1:2`. */
function printHandle(value: number): string {
  if (value === 0) return 'none';
  if (value === 0xffffffff) return 'root';
  return `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
}

function printHex(data: Buffer, order: Order): string {
  return `0x${readNumber(data, order).toString(16)}`;
}

function printString(data: Buffer): string {
  const end = data.indexOf(0);
  const text = data.toString('utf8', 0, end < 0 ? data.length : end);
  // A star at the end must be escaped, because it would match every name that begins like this.
  return `"${text.endsWith('*') ? `${text.slice(0, -1)}\\*` : text}"`;
}

/** Prints an address as inet_ntop does: the last part of some addresses is printed as an IPv4 address. */
function printIpv6(data: Buffer): string {
  if (data.length !== 16) return printHex(data, 'network');
  const high = data.subarray(0, 10).every(byte => byte === 0);
  const group = data.readUInt16BE(10);
  const low = data.readUInt16BE(12);
  if (high && group === 0xffff) return `::ffff:${ipFromBytes(data.subarray(12))}`;
  if (high && group === 0 && low !== 0) return `::${ipFromBytes(data.subarray(12))}`;
  return ipFromBytes(data) ?? printHex(data, 'network');
}
