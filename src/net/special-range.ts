import { type Ip, isLinkLocal, isLoopback, isUnspecified } from './ip.ts';

/** The ranges of addresses that do not lead to another machine. */
export type SpecialRange = 'unspecified' | 'loopback' | 'link-local' | 'multicast';

export function specialRangeOf(ip: Ip): SpecialRange | undefined {
  if (isUnspecified(ip)) return 'unspecified';
  if (isLoopback(ip)) return 'loopback';
  if (ip.startsWith('169.254.') || isLinkLocal(ip)) return 'link-local';
  return isMulticast(ip) ? 'multicast' : undefined;
}

function isMulticast(ip: Ip): boolean {
  return ip.includes(':') ? /^ff[0-9a-f]{2}:/.test(ip) : /^2(2[4-9]|3\d)\./.test(ip);
}
