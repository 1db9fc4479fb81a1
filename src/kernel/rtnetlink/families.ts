import type { Family } from '../../net/index.ts';

export const AF_INET = 2;
export const AF_INET6 = 10;

export function familyNumber(family: Family): number {
  return family === 'IPv4' ? AF_INET : AF_INET6;
}

/** The length of an address of the family. Undefined for families other than IPv4 and IPv6. */
export function addressLength(family: number | undefined): 4 | 16 | undefined {
  if (family === AF_INET) return 4;
  return family === AF_INET6 ? 16 : undefined;
}
