import { familyOf, type Ip, ipBytes } from '../../../../net/index.ts';
import type { Expression } from '../expression.ts';
import type { NatFlag } from '../nat-flags.ts';
import { registerAt, wordsFor } from '../registers.ts';
import { REG_1, type Selector } from './selector.ts';
import { ADDRESS_BYTES, map, type PacketFamily } from './selectors.ts';
import type { SetReference } from './set-reference.ts';

/** nft loads the port of a constant target into the second register of sixteen bytes. */
const REG_2 = 2;

/** `dnat to 10.0.0.1:80`. With a port the rule must match the transport protocol before. */
export function dnatTo(ip: Ip, port?: number): Expression[] {
  const family = familyOf(ip) === 'IPv4' ? 'ip' : 'ip6';
  const address: Expression = { kind: 'immediate', dreg: REG_1, data: ipBytes(ip) };
  if (port === undefined) return [address, { kind: 'nat', type: 'dnat', family, addrMin: REG_1 }];
  const data = Buffer.alloc(2);
  data.writeUInt16BE(port);
  return [
    address,
    { kind: 'immediate', dreg: REG_2, data },
    { kind: 'nat', type: 'dnat', family, addrMin: REG_1, protoMin: REG_2 },
  ];
}

/**
 * `dnat ip to … map @endpoints`, for a map whose data are `ipv4_addr . inet_service` (or `ipv6_addr`). The key can
 * contain parts that nft's grammar does not accept, such as `numgen` in a concatenation. nft lists them nevertheless.
 * `found`: what happens before the translation if the map has the key. It must not use the registers of the map.
 */
export function dnatToMap(
  family: PacketFamily,
  key: readonly Selector[],
  name: SetReference,
  found: readonly Expression[] = [],
): Expression[] {
  const words = wordsFor(ADDRESS_BYTES[family]);
  return [
    ...map(key, name, 4 * (words + 1)).load(REG_1),
    ...found,
    { kind: 'nat', type: 'dnat', family, addrMin: REG_1, protoMin: registerAt(words) },
  ];
}

/** `masquerade fully-random`. */
export function masquerade(...flags: readonly NatFlag[]): Expression {
  return { kind: 'masquerade', ...(flags.length > 0 && { flags }) };
}
