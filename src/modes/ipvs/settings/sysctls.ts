import { release } from 'node:os';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { ensureSysctl } from '../../../kernel/sysctl.ts';
import type { Sysctl } from '../../../plan/index.ts';

/** The sysctls that ipvs needs, in the order in which the mode sets them. */
export function ipvsSysctls({
  strictARP,
  kernel,
}: {
  readonly strictARP: boolean;
  readonly kernel: string;
}): readonly Sysctl[] {
  return [
    { name: 'net/ipv4/vs/conntrack', value: 1 },
    ...(needsConnReuse(kernel) ? [{ name: 'net/ipv4/vs/conn_reuse_mode', value: 0 }] : []),
    { name: 'net/ipv4/vs/expire_nodest_conn', value: 1 },
    { name: 'net/ipv4/vs/expire_quiescent_template', value: 1 },
    { name: 'net/ipv4/ip_forward', value: 1 },
    ...(strictARP
      ? [
          { name: 'net/ipv4/conf/all/arp_ignore', value: 1 },
          { name: 'net/ipv4/conf/all/arp_announce', value: 2 },
        ]
      : []),
  ];
}

/** Throws if the kernel refuses one, because nothing works without them. */
export function ensureIpvsSysctls(strictARP: boolean, namespace?: NetworkNamespace): void {
  for (const { name, value } of ipvsSysctls({ strictARP, kernel: release() })) ensureSysctl(name, value, namespace);
}

/**
 * From 4.1 on, a connection from a port that was used a moment ago goes to another endpoint, and its first packet is
 * delayed by a second. 5.9 has no such delay. Kernels before 4.1 do not have the setting.
 */
function needsConnReuse(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number.parseFloat);
  const version = major * 1000 + minor;
  return version >= 4001 && version < 5009;
}
