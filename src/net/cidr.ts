import { type Family, familyOf, type Ip, ipBytes, ipFromBytes, parseIp } from './ip.ts';

/** A network. The host bits of the address are zero. */
export interface Cidr {
  readonly address: Ip;
  readonly prefix: number;
}

/**
 * Parses `10.1.2.3/8` as 10.0.0.0/8. Leading zeros are allowed, as in parseIp, also in the prefix. Returns undefined if
 * the text is not a CIDR.
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const ip = parseIp(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (!ip || !/^[0-9]{1,8}$/.test(digits)) return undefined;
  // An IPv4-mapped address has a prefix length of IPv6, but means an IPv4 network.
  const mapped = familyOf(ip) === 'IPv4' && text.slice(0, slash).includes(':');
  const prefix = Number(digits) - (mapped ? 96 : 0);
  if (prefix < 0 || prefix > bitsOf(ip)) return undefined;
  return { address: maskIp(ip, prefix), prefix };
}

export function formatCidr(cidr: Cidr): string {
  return `${cidr.address}/${cidr.prefix}`;
}

export function cidrFamily(cidr: Cidr): Family {
  return familyOf(cidr.address);
}

/** Whether the network contains all addresses of its family. */
export function isZeroCidr(cidr: Cidr): boolean {
  return cidr.prefix === 0;
}

/** The network of one address. */
export function hostCidr(ip: Ip): Cidr {
  return { address: ip, prefix: bitsOf(ip) };
}

export function isHostCidr({ address, prefix }: Cidr): boolean {
  return prefix === bitsOf(address);
}

export function cidrContains(cidr: Cidr, ip: Ip): boolean {
  return familyOf(ip) === cidrFamily(cidr) && maskIp(ip, cidr.prefix) === cidr.address;
}

/** Whether an address is in both networks. */
export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  return cidrContains(a, b.address) || cidrContains(b, a.address);
}

function bitsOf(ip: Ip): number {
  return familyOf(ip) === 'IPv4' ? 32 : 128;
}

function maskIp(ip: Ip, prefix: number): Ip {
  if (prefix === bitsOf(ip)) return ip;
  const bytes = ipBytes(ip);
  for (let i = 0; i < bytes.length; i++) {
    const kept = Math.min(8, Math.max(0, prefix - 8 * i));
    bytes[i] = (bytes[i] ?? 0) & (0xff00 >> kept);
  }
  return ipFromBytes(bytes) ?? ip;
}
