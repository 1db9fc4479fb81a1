import { KernelError } from '../../../kernel/errors.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { ensureSysctl, readSysctl } from '../../../kernel/sysctl.ts';
import type { NodePortAddresses } from '../../../model/index.ts';
import { type Family, isLoopback } from '../../../net/index.ts';
import type { ModeSettings } from '../../mode.ts';
import { type KernelEntry, sysctlEntry } from '../../read-back.ts';

const ROUTE_LOCALNET = 'net/ipv4/conf/all/route_localnet';
const BE_LIBERAL = 'net/netfilter/nf_conntrack_tcp_be_liberal';

/** Logged before `routeLocalnet`. */
export const ROUTE_LOCALNET_NOTICE =
  'Setting route_localnet=1 to allow node-ports on localhost; to change this either disable iptables.localhostNodePorts ' +
  '(--iptables-localhost-nodeports) or set nodePortAddresses (--nodeport-addresses) to filter loopback addresses';

/** Logged if `isTcpLiberal` returns true. */
export const TCP_LIBERAL_NOTICE = 'nf_conntrack_tcp_be_liberal set, not installing DROP rules for INVALID packets';

/** Whether node ports accept connections to 127.0.0.1. IPv6 cannot do that. */
export function hasLocalhostNodePorts(family: Family, configured: boolean, addresses: NodePortAddresses): boolean {
  return configured && family === 'IPv4' && addresses.containsIPv4Loopback;
}

/**
 * Lets the kernel route packets from 127.0.0.1 to other machines. Node ports at 127.0.0.1 need it. The proxy never sets
 * it back, because other programs may rely on it.
 */
export function routeLocalnet(namespace?: NetworkNamespace): 'unchanged' | 'changed' {
  return ensureSysctl(ROUTE_LOCALNET, 1, namespace);
}

/** If the setting cannot be read, packets outside of a connection's window count as invalid. */
export function isTcpLiberal(namespace?: NetworkNamespace): boolean {
  try {
    return readSysctl(BE_LIBERAL, namespace) !== '0';
  } catch (error) {
    if (error instanceof KernelError) return false;
    throw error;
  }
}

/** The notice about node port addresses that are configured but cannot be served. */
export function loopbackNotice(
  family: Family,
  { nodePortAddresses, nodePortIPs }: ModeSettings,
  localhostNodePorts: boolean,
): string | undefined {
  if (nodePortAddresses.matchAll || localhostNodePorts || !nodePortIPs.some(isLoopback)) return undefined;
  return family === 'IPv6'
    ? '--nodeport-addresses includes localhost but localhost NodePorts are not supported on IPv6'
    : '--nodeport-addresses includes localhost but --iptables-localhost-nodeports=false was passed';
}

/** Whether the kernel routes packets from 127.0.0.1, as a reading shows it. */
export function localnetEntry(namespace?: NetworkNamespace): KernelEntry {
  return sysctlEntry(ROUTE_LOCALNET, '1', namespace);
}
