/** Protocols that rules use, with their names in every machine's /etc/protocols. */
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

/** `tcp`, or the number if the protocol is not in this table. */
export function printProtocol(protocol: number): string {
  return names.get(protocol) ?? String(protocol);
}

/** Returns undefined for names that are not in this table. */
export function protocolNumber(name: string): number | undefined {
  return numbers.get(name);
}
