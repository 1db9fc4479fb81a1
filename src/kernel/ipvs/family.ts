import type { Family, Ip } from '../../net/index.ts';
import { ipFromBytes, writeIp } from '../../net/index.ts';

/** The generic netlink family of ip_vs. */
export const IPVS = { name: 'IPVS', version: 1 } as const;

export const IpvsCommand = {
  NEW_SERVICE: 1,
  SET_SERVICE: 2,
  DEL_SERVICE: 3,
  GET_SERVICE: 4,
  NEW_DEST: 5,
  SET_DEST: 6,
  DEL_DEST: 7,
  GET_DEST: 8,
  SET_CONFIG: 12,
  GET_CONFIG: 13,
  GET_INFO: 15,
  ZERO: 16,
  FLUSH: 17,
} as const;

/** Attributes of every command. The objects are nested in the first two. */
export const IpvsAttribute = { SERVICE: 1, DEST: 2, TIMEOUT_TCP: 4, TIMEOUT_TCP_FIN: 5, TIMEOUT_UDP: 6 } as const;

const AF_INET = 2;
const AF_INET6 = 10;

export function familyNumber(family: Family): number {
  return family === 'IPv4' ? AF_INET : AF_INET6;
}

export function familyFromNumber(number: number | undefined): Family | undefined {
  if (number === AF_INET) return 'IPv4';
  return number === AF_INET6 ? 'IPv6' : undefined;
}

/** `union nf_inet_addr`: 16 bytes. An IPv4 address uses the first four. */
export function addressBytes(address: Ip): Buffer {
  const bytes = Buffer.alloc(16);
  writeIp(address, bytes, 0);
  return bytes;
}

export function addressFromBytes(family: Family, bytes: Buffer | undefined): Ip | undefined {
  const length = family === 'IPv4' ? 4 : 16;
  return bytes && bytes.length >= length ? ipFromBytes(bytes.subarray(0, length)) : undefined;
}
