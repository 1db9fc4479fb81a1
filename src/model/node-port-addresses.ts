import {
  ANY_IP,
  type Cidr,
  cidrContains,
  cidrFamily,
  FAMILIES,
  type Family,
  formatCidr,
  type Ip,
  isLoopback,
  isZeroCidr,
  parseCidr,
} from '../net/index.ts';
import { isNodeIPKnown, type NodeIPs } from './node.ts';

/** Which of the node's addresses accept node ports, in one family. */
export interface NodePortAddresses {
  readonly family: Family;
  /** Every local address accepts node ports. `cidrs` is then the family's zero CIDR. */
  readonly matchAll: boolean;
  readonly cidrs: readonly Cidr[];
  readonly containsIPv4Loopback: boolean;
  /** The operator listed loopback itself, such as 127.0.0.0/8 or ::1/128, and not only a network that contains it. */
  readonly containsExplicitLoopback: boolean;
}

const ZERO: Readonly<Record<Family, Cidr>> = {
  IPv4: { address: ANY_IP.IPv4, prefix: 0 },
  IPv6: { address: ANY_IP.IPv6, prefix: 0 },
};
const LOOPBACK_NETWORK = '127.0.0.0' as Ip;

/** A list without a CIDR of the family means all addresses of the family. */
export function parseNodePortAddresses(family: Family, texts: readonly string[]): NodePortAddresses {
  const own = texts.map(parseCidr).filter((cidr): cidr is Cidr => cidr !== undefined && cidrFamily(cidr) === family);
  const given = own.length > 0 ? own : [ZERO[family]];
  const zero = given.findIndex(isZeroCidr);
  const read = zero < 0 ? given : given.slice(0, zero + 1);
  return {
    family,
    matchAll: zero >= 0,
    cidrs: zero < 0 ? given : [ZERO[family]],
    containsIPv4Loopback: family === 'IPv4' && read.some(containsLoopback),
    containsExplicitLoopback: given.some(({ address }) => isLoopback(address)),
  };
}

function containsLoopback(cidr: Cidr): boolean {
  return isLoopback(cidr.address) || cidrContains(cidr, LOOPBACK_NETWORK);
}

/** The machine's addresses that accept node ports, each once, in the given order. */
export function selectNodePortIPs(addresses: NodePortAddresses, interfaceIPs: readonly Ip[]): readonly Ip[] {
  const matching = interfaceIPs.filter(ip => addresses.cidrs.some(cidr => cidrContains(cidr, ip)));
  return [...new Set(matching)];
}

/** Replaces keywords by the ranges that they stand for. `primary` stands for the known addresses of the node. */
export function resolveNodePortKeywords(texts: readonly string[], nodeIPs: NodeIPs): readonly string[] {
  return texts.flatMap(text => {
    switch (text) {
      case 'primary':
        return primaryRanges(nodeIPs);
      case 'localhost':
        return ['127.0.0.0/8', '::1/128'];
      case 'all':
        return FAMILIES.map(family => formatCidr(ZERO[family]));
      default:
        return [text];
    }
  });
}

function primaryRanges(nodeIPs: NodeIPs): readonly string[] {
  const own = FAMILIES.filter(family => isNodeIPKnown(nodeIPs, family));
  return own.map(family => formatCidr({ address: nodeIPs[family], prefix: family === 'IPv4' ? 32 : 128 }));
}
