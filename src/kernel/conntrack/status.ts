/** Bits of a flow's status, `enum ip_conntrack_status`. */
export const Status = {
  EXPECTED: 1 << 0,
  SEEN_REPLY: 1 << 1,
  ASSURED: 1 << 2,
  CONFIRMED: 1 << 3,
  SRC_NAT: 1 << 4,
  DST_NAT: 1 << 5,
  OFFLOAD: 1 << 14,
  HW_OFFLOAD: 1 << 15,
} as const;

/** The word that `conntrack -L` prints between the tuples. */
export function printUnreplied(status: number | undefined): string | undefined {
  return status !== undefined && !(status & Status.SEEN_REPLY) ? '[UNREPLIED]' : undefined;
}

/** The word that `conntrack -L` prints after the tuples. */
export function printAssured(status: number | undefined): string | undefined {
  if (status === undefined) return undefined;
  if (status & Status.HW_OFFLOAD) return '[HW_OFFLOAD]';
  if (status & Status.OFFLOAD) return '[OFFLOAD]';
  return status & Status.ASSURED ? '[ASSURED]' : undefined;
}
