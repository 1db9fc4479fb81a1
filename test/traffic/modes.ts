/** The modes that real packets were recorded for. */
export const MODES = ['nftables', 'iptables', 'ipvs', 'userspace'] as const;
export type Mode = (typeof MODES)[number];
