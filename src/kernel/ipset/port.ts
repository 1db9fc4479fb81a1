import { asU8, asU16BE, type MessageWriter } from '../netlink/index.ts';
import { Data, NET_BYTEORDER } from './message.ts';

/** Layer 4 protocols by number. */
export const L4 = { ICMP: 1, TCP: 6, UDP: 17, ICMPV6: 58, SCTP: 132, UDPLITE: 136 } as const;

const NAMES: ReadonlyMap<number, string> = new Map([
  [L4.ICMP, 'icmp'],
  [L4.TCP, 'tcp'],
  [L4.UDP, 'udp'],
  [L4.ICMPV6, 'ipv6-icmp'],
  [L4.SCTP, 'sctp'],
  [L4.UDPLITE, 'udplite'],
]);

/** A port of a layer 4 protocol. For ICMP the number is not a port, but the type and the code, one byte each. */
export interface ProtocolPort {
  readonly protocol: number;
  readonly port: number;
}

export function encodePort(writer: MessageWriter, port: number): void {
  writer.u16BE(Data.PORT | NET_BYTEORDER, port);
}

export function decodePort(data: ReadonlyMap<number, Buffer>): number | undefined {
  return asU16BE(data.get(Data.PORT));
}

export function encodeProtocolPort(writer: MessageWriter, { protocol, port }: ProtocolPort): void {
  encodePort(writer, port);
  writer.u8(Data.PROTO, protocol);
}

export function decodeProtocolPort(data: ReadonlyMap<number, Buffer>): ProtocolPort | undefined {
  const port = decodePort(data);
  const protocol = asU8(data.get(Data.PROTO));
  return port === undefined || protocol === undefined ? undefined : { protocol, port };
}

/** `tcp:80`, `icmp:8/0`. A protocol without a name is printed as a number, which ipset can read too. */
export function printProtocolPort({ protocol, port }: ProtocolPort): string {
  const name = NAMES.get(protocol) ?? String(protocol);
  const icmp = protocol === L4.ICMP || protocol === L4.ICMPV6;
  return icmp ? `${name}:${port >>> 8}/${port & 255}` : `${name}:${port}`;
}
