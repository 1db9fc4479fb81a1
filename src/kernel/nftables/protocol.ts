/** Names that every machine's /etc/protocols has for what is used in rules. */
const PROTOCOLS: readonly (readonly [number, string])[] = [
  [1, 'icmp'],
  [6, 'tcp'],
  [17, 'udp'],
  [33, 'dccp'],
  [50, 'esp'],
  [51, 'ah'],
  [58, 'ipv6-icmp'],
  [132, 'sctp'],
  [136, 'udplite'],
];

const names = new Map(PROTOCOLS);
const numbers = new Map(PROTOCOLS.map(([number, name]) => [name, number]));

/** `tcp`, or the number where it has no common name. */
export function printProtocol(protocol: number): string {
  return names.get(protocol) ?? String(protocol);
}

/** Undefined for names that are not known here. */
export function protocolNumber(name: string): number | undefined {
  return numbers.get(name);
}
