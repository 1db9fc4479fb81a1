import { existsSync } from 'node:fs';
import type { NetworkNamespace } from './netns.ts';
import { readSysctl } from './sysctl.ts';

/** Whether this network speaks IPv6 at all: a kernel can lack it, and an administrator can switch it off. */
export function hasIPv6(namespace?: NetworkNamespace): boolean {
  const hasAddresses = () => existsSync('/proc/net/if_inet6');
  if (!(namespace ? namespace.run(hasAddresses) : hasAddresses())) return false;
  try {
    return readSysctl('net/ipv6/conf/all/disable_ipv6', namespace) !== '1';
  } catch {
    return true;
  }
}
