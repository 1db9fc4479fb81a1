import { type Cidr, cidrFamily, ipBytes } from '../../../../net/index.ts';
import { familyNumbers } from '../../family.ts';
import { protocolNumber } from '../../protocol.ts';
import type { CmpOp } from '../cmp.ts';
import type { Expression } from '../expression.ts';
import { type BitmaskType, bitSymbols, symbols } from '../symbols.ts';
import { REG_1, type Selector } from './selector.ts';
import {
  ADDRESS_BYTES,
  address,
  ctState,
  ctStatus,
  fibType,
  iifname,
  metaL4proto,
  metaMark,
  metaNfproto,
  numgen,
  oifname,
  type PacketFamily,
  thDport,
  thSport,
} from './selectors.ts';

type Equality = Extract<CmpOp, 'eq' | 'neq'>;

/** Continues only if the comparison of the selected value with the data is true. */
export function match(selector: Selector, op: CmpOp, data: Buffer): Expression[] {
  return [...selector.load(REG_1), { kind: 'cmp', op, sreg: REG_1, data }];
}

/** Continues only if the comparison of the selected and masked value with the data is true. */
export function matchMasked(selector: Selector, mask: Buffer, op: CmpOp, data: Buffer): Expression[] {
  return [
    ...selector.load(REG_1),
    { kind: 'bitwise', sreg: REG_1, dreg: REG_1, mask, xor: Buffer.alloc(mask.length) },
    { kind: 'cmp', op, sreg: REG_1, data },
  ];
}

/** `meta l4proto tcp`. */
export function matchL4proto(protocol: string, op: Equality = 'eq'): Expression[] {
  const number = protocolNumber(protocol);
  if (number === undefined) throw new RangeError(`${protocol} is not a known protocol`);
  return match(metaL4proto, op, Buffer.of(number));
}

/** `meta nfproto ipv4`. Rules of an `inet` table need it before fields of a family. */
export function matchNfproto(family: PacketFamily): Expression[] {
  return match(metaNfproto, 'eq', Buffer.of(familyNumbers[family]));
}

/** `th dport 80`. */
export function matchPort(field: 'sport' | 'dport', port: number, op: CmpOp = 'eq'): Expression[] {
  const data = Buffer.alloc(2);
  data.writeUInt16BE(port);
  return match(field === 'sport' ? thSport : thDport, op, data);
}

/**
 * `ip saddr 10.244.0.0/16`, depending on the family of the network. For a prefix of whole bytes the rule loads only
 * these bytes, as nft does.
 */
export function matchAddress(field: 'saddr' | 'daddr', cidr: Cidr, op: Equality = 'eq'): Expression[] {
  const family = cidrFamily(cidr) === 'IPv4' ? 'ip' : 'ip6';
  const bytes = ADDRESS_BYTES[family];
  const data = ipBytes(cidr.address);
  if (cidr.prefix > 0 && cidr.prefix % 8 === 0) {
    const length = cidr.prefix / 8;
    return match(address(family, field, length), op, data.subarray(0, length));
  }
  const mask = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at++) mask[at] = 0xff00 >> Math.min(8, Math.max(0, cidr.prefix - 8 * at));
  return matchMasked(address(family, field), mask, op, data);
}

/** `iifname "cni0"`. A star at the end matches every name that begins like this. */
export function matchIifname(name: string, op: Equality = 'eq'): Expression[] {
  return match(iifname, op, interfaceName(name));
}

/** `oifname "cni0"`. A star at the end matches every name that begins like this. */
export function matchOifname(name: string, op: Equality = 'eq'): Expression[] {
  return match(oifname, op, interfaceName(name));
}

/** `ct state new`: matches if the connection has one of these states. */
export function matchCtState(...states: readonly (keyof (typeof bitSymbols)['ct_state'])[]): Expression[] {
  return matchBits(ctState, 'ct_state', states);
}

/** `ct status dnat`: matches if the connection has one of these statuses. */
export function matchCtStatus(...statuses: readonly (keyof (typeof bitSymbols)['ct_status'])[]): Expression[] {
  return matchBits(ctStatus, 'ct_status', statuses);
}

/** `fib daddr type local`. */
export function matchFibType(
  field: 'saddr' | 'daddr',
  type: keyof (typeof symbols)['fib_addrtype'],
  op: Equality = 'eq',
): Expression[] {
  return match(fibType(field), op, host32(symbols.fib_addrtype[type]));
}

/** `meta mark & 0x4000 != 0x0`. */
export function matchMark(mask: number, op: Equality, mark: number): Expression[] {
  return matchMasked(metaMark, host32(mask), op, host32(mark));
}

/** `numgen random mod 3 0`: matches one of three packets, at random. */
export function matchRandom(modulus: number): Expression[] {
  return match(numgen('random', modulus), 'eq', host32(0));
}

/** A number in the machine's byte order. Marks, states and statuses have this order. */
export function host32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number >>> 0);
  return bytes;
}

function matchBits(selector: Selector, type: BitmaskType, names: readonly string[]): Expression[] {
  const bits: Readonly<Record<string, number>> = bitSymbols[type];
  const mask = names.reduce((all, name) => all | (bits[name] ?? 0), 0);
  return matchMasked(selector, host32(mask), 'neq', host32(0));
}

/** Sixteen bytes with the name, or only the bytes before a star. */
function interfaceName(name: string): Buffer {
  if (name.endsWith('*')) return Buffer.from(name.slice(0, -1));
  const bytes = Buffer.alloc(16);
  if (bytes.write(name) >= bytes.length) throw new RangeError(`${name} is too long for the name of an interface`);
  return bytes;
}
