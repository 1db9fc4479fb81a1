import { existsSync } from 'node:fs';
import type { NetworkNamespace } from './netns.ts';
import { readSysctl } from './sysctl.ts';

/** Whether the network namespace has IPv6. A kernel can lack IPv6, and an administrator can switch it off. */
export function hasIPv6(namespace?: NetworkNamespace): boolean {
  const hasAddresses = () => existsSync('/proc/net/if_inet6');
  if (!(namespace ? namespace.run(hasAddresses) : hasAddresses())) return false;
  try {
    return readSysctl('net/ipv6/conf/all/disable_ipv6', namespace) !== '1';
  } catch {
    return true;
  }
}
