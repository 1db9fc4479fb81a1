import { printProtocol } from '../kernel/nftables/index.ts';
import { type Family, type Ip, ipFromBytes, joinHostPort } from '../net/index.ts';

/** The addresses and ports of a packet at one place of its way. */
export interface PacketHeaders {
  readonly family: Family;
  readonly source: Ip;
  readonly destination: Ip;
  /** `tcp`, `udp`, or the number of a protocol without a name. */
  readonly protocol: string;
  readonly protocolNumber: number;
  /** Undefined for protocols without ports. */
  readonly sourcePort: number | undefined;
  readonly destinationPort: number | undefined;
  /** `SYN`, `SYN,ACK`, `RST`. Undefined if the packet is not TCP. */
  readonly tcpFlags: string | undefined;
}

const TCP = 6;
const WITH_PORTS: ReadonlySet<number> = new Set([TCP, 17, 33, 132, 136]);
const TCP_FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG'] as const;
const TCP_FLAGS_OFFSET = 13;

/** Reads the headers that the kernel sent. Returns undefined if they are cut short, or are not of IP. */
export function readHeaders(network: Buffer, transport: Buffer): PacketHeaders | undefined {
  const version = (network[0] ?? 0) >> 4;
  const isV4 = version === 4 && network.length >= 20;
  if (!isV4 && !(version === 6 && network.length >= 40)) return undefined;
  const [from, to, end, protocolAt] = isV4 ? [12, 16, 20, 9] : [8, 24, 40, 6];
  const source = ipFromBytes(network.subarray(from, to));
  const destination = ipFromBytes(network.subarray(to, end));
  const protocol = network[protocolAt] ?? 0;
  if (!source || !destination) return undefined;
  const hasPorts = WITH_PORTS.has(protocol) && transport.length >= 4;
  const flags = protocol === TCP ? transport[TCP_FLAGS_OFFSET] : undefined;
  return {
    family: isV4 ? 'IPv4' : 'IPv6',
    source,
    destination,
    protocol: printProtocol(protocol),
    protocolNumber: protocol,
    sourcePort: hasPorts ? transport.readUInt16BE(0) : undefined,
    destinationPort: hasPorts ? transport.readUInt16BE(2) : undefined,
    tcpFlags: flags === undefined ? undefined : TCP_FLAGS.filter((_, bit) => flags & (1 << bit)).join(','),
  };
}

/** `10.244.1.200:41234`, or only the address. */
export function sourceText({ source, sourcePort }: PacketHeaders): string {
  return sourcePort === undefined ? source : joinHostPort(source, sourcePort);
}

export function destinationText({ destination, destinationPort }: PacketHeaders): string {
  return destinationPort === undefined ? destination : joinHostPort(destination, destinationPort);
}

/**
 * Bytes that stay the same while a packet goes through this machine, and that differ between the packets of a
 * connection: sequence numbers and flags of TCP, or the beginning of the payload.
 */
export function fingerprintOf(headers: PacketHeaders, transport: Buffer): string {
  const bytes = headers.tcpFlags === undefined ? transport.subarray(8) : transport.subarray(4, 14);
  return `${headers.protocolNumber} ${sourceText(headers)} ${destinationText(headers)} ${bytes.toString('hex')}`;
}
