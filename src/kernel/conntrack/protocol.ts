/** Layer 4 protocols by number. */
export const L4 = { ICMP: 1, TCP: 6, UDP: 17, DCCP: 33, GRE: 47, ICMPV6: 58, SCTP: 132, UDPLITE: 136 } as const;

const NAMES: ReadonlyMap<number, string> = new Map([
  [L4.ICMP, 'icmp'],
  [L4.TCP, 'tcp'],
  [L4.UDP, 'udp'],
  [L4.DCCP, 'dccp'],
  [L4.GRE, 'gre'],
  [L4.ICMPV6, 'icmpv6'],
  [L4.SCTP, 'sctp'],
  [L4.UDPLITE, 'udplite'],
]);

/** The name that `conntrack -L` prints. */
export function protocolName(protocol: number): string {
  return NAMES.get(protocol) ?? 'unknown';
}

/** The argument of `conntrack -p`: a name, or a number if the protocol has no name. */
export function protocolArgument(protocol: number): string {
  return NAMES.get(protocol) ?? String(protocol);
}
