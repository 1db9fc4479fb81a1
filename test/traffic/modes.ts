/** The modes whose answers to real packets are recorded. */
export const MODES = ['nftables', 'iptables', 'ipvs', 'userspace'] as const;
export type Mode = (typeof MODES)[number];
