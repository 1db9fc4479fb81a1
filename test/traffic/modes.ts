/** The modes whose answers to real packets are recorded. */
export const MODES = ['nftables', 'ebpf', 'iptables', 'ipvs', 'userspace'] as const;
export type Mode = (typeof MODES)[number];

/** The mode that programs the network, and whose configuration and recordings count. */
export function networkOf(mode: Mode): Mode {
  return mode === 'ebpf' ? 'nftables' : mode;
}
