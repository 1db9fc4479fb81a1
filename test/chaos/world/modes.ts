import type { Fault, Impairment } from '../faults/fault.ts';

/** The modes that a usual kernel has. Their order is part of what a seed means. ipvs mode needs kernel modules. */
export const MODES = ['nftables', 'iptables', 'userspace', 'ebpf'] as const;
export type ModeName = (typeof MODES)[number];

/** nftables mode and ebpf mode have a table of their own, the other modes have chains of iptables. */
export function hasTable(mode: ModeName): boolean {
  return mode === 'nftables' || mode === 'ebpf';
}

/**
 * What a fault takes from the proxy in a mode. In userspace mode the process itself carries all connections. If the
 * process ends or stops, its connections end, and new ones fail until the next process serves. No other mode has this
 * excuse.
 */
export function impairmentsOf(fault: Fault, mode: ModeName): readonly Impairment[] {
  if (mode !== 'userspace' || !fault.stopsProxy) return fault.impairs;
  return [...new Set<Impairment>([...fault.impairs, 'rules', 'connections'])];
}

/** A process of the proxy never has more descriptors than this. In userspace mode it also has two for each connection. */
export function maxDescriptors(mode: ModeName): number {
  return mode === 'userspace' ? 400 : 100;
}
