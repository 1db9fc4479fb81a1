import type { PayloadBase } from '../payload.ts';
import type { ValueType } from './value.ts';

/** A field of a protocol's header. The offset is in bits from the start of the header. */
export interface Field {
  readonly text: string;
  readonly offset: number;
  readonly bits: number;
  readonly type: ValueType;
}

export type NetworkProtocol = 'ip' | 'ip6';

const ports: readonly [string, number, number, ValueType][] = [
  ['sport', 0, 16, 'inet_service'],
  ['dport', 16, 16, 'inet_service'],
];

const headers = {
  ether: fields('ether', [
    ['daddr', 0, 48, 'ether_addr'],
    ['saddr', 48, 48, 'ether_addr'],
    ['type', 96, 16, 'ether_type'],
  ]),
  ip: fields('ip', [
    ['version', 0, 4, 'integer'],
    ['hdrlength', 4, 4, 'integer'],
    ['dscp', 8, 6, 'dscp'],
    ['ecn', 14, 2, 'integer'],
    ['length', 16, 16, 'integer'],
    ['id', 32, 16, 'integer'],
    ['frag-off', 48, 16, 'integer'],
    ['ttl', 64, 8, 'integer'],
    ['protocol', 72, 8, 'inet_proto'],
    ['checksum', 80, 16, 'integer'],
    ['saddr', 96, 32, 'ipv4_addr'],
    ['daddr', 128, 32, 'ipv4_addr'],
  ]),
  ip6: fields('ip6', [
    ['version', 0, 4, 'integer'],
    ['dscp', 4, 6, 'dscp'],
    ['ecn', 10, 2, 'integer'],
    ['flowlabel', 12, 20, 'integer'],
    ['length', 32, 16, 'integer'],
    ['nexthdr', 48, 8, 'inet_proto'],
    ['hoplimit', 56, 8, 'integer'],
    ['saddr', 64, 128, 'ipv6_addr'],
    ['daddr', 192, 128, 'ipv6_addr'],
  ]),
  th: fields('th', ports),
  icmp: fields('icmp', [
    ['type', 0, 8, 'icmp_type'],
    ['code', 8, 8, 'integer'],
    ['checksum', 16, 16, 'integer'],
  ]),
  icmpv6: fields('icmpv6', [
    ['type', 0, 8, 'icmpv6_type'],
    ['code', 8, 8, 'integer'],
    ['checksum', 16, 16, 'integer'],
  ]),
  tcp: fields('tcp', [
    ...ports,
    ['sequence', 32, 32, 'integer'],
    ['ackseq', 64, 32, 'integer'],
    ['doff', 96, 4, 'integer'],
    ['reserved', 100, 4, 'integer'],
    ['flags', 104, 8, 'tcp_flag'],
    ['window', 112, 16, 'integer'],
    ['checksum', 128, 16, 'integer'],
    ['urgptr', 144, 16, 'integer'],
  ]),
  udp: fields('udp', [...ports, ['length', 32, 16, 'integer'], ['checksum', 48, 16, 'integer']]),
  udplite: fields('udplite', [...ports, ['csumcov', 32, 16, 'integer'], ['checksum', 48, 16, 'integer']]),
  sctp: fields('sctp', [...ports, ['vtag', 32, 32, 'integer'], ['checksum', 64, 32, 'integer']]),
  dccp: fields('dccp', ports),
} as const;

const transports: ReadonlyMap<number, keyof typeof headers> = new Map([
  [1, 'icmp'],
  [6, 'tcp'],
  [17, 'udp'],
  [33, 'dccp'],
  [58, 'icmpv6'],
  [132, 'sctp'],
  [136, 'udplite'],
]);

/**
 * The header that a payload's base means, depending on the protocols that the rule has already matched. Undefined if
 * the header is not known.
 */
export function headerAt(
  base: PayloadBase,
  network: NetworkProtocol | undefined,
  transport: number | undefined,
): keyof typeof headers | undefined {
  switch (base) {
    case 'link':
      return 'ether';
    case 'network':
      return network;
    case 'transport':
      return transport === undefined ? 'th' : (transports.get(transport) ?? 'th');
    case 'inner':
      return undefined;
  }
}

/** The field that begins at a bit of the header. */
export function fieldAt(header: keyof typeof headers, offset: number): Field | undefined {
  return headers[header].find(field => field.offset === offset);
}

function fields(protocol: string, list: readonly (readonly [string, number, number, ValueType])[]): readonly Field[] {
  return list.map(([name, offset, bits, type]) => ({ text: `${protocol} ${name}`, offset, bits, type }));
}
