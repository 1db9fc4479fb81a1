import { familyOf, type Ip, ipBytes } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { CtaIp, CtaProto, CtaTuple } from './attributes.ts';
import { L4 } from './protocol.ts';

/** The fields that ICMP has instead of ports. */
export interface Icmp {
  readonly type: number;
  readonly code: number;
  readonly id: number;
}

/** One direction of a flow. */
export interface FlowTuple {
  readonly src: Ip;
  readonly dst: Ip;
  /** 0 if the protocol has no ports. For GRE, the lower half of the key. */
  readonly srcPort: number;
  readonly dstPort: number;
  readonly icmp?: Icmp | undefined;
  /** A zone that holds for this direction only. */
  readonly zone?: number | undefined;
}

/** Writes a tuple as the nested attribute `type`. */
export function encodeTuple(writer: MessageWriter, type: number, protocol: number, tuple: FlowTuple): void {
  const nest = writer.nest(type);
  const v4 = familyOf(tuple.src) === 'IPv4';
  const ip = writer.nest(CtaTuple.IP);
  writer.data(v4 ? CtaIp.V4_SRC : CtaIp.V6_SRC, ipBytes(tuple.src));
  writer.data(v4 ? CtaIp.V4_DST : CtaIp.V6_DST, ipBytes(tuple.dst)).close(ip);
  const proto = writer.nest(CtaTuple.PROTO);
  writer.u8(CtaProto.NUM, protocol);
  if (tuple.icmp) encodeIcmp(writer, protocol, tuple.icmp);
  else if (hasPorts(protocol)) writer.u16BE(CtaProto.SRC_PORT, tuple.srcPort).u16BE(CtaProto.DST_PORT, tuple.dstPort);
  writer.close(proto);
  if (tuple.zone !== undefined) writer.u16BE(CtaTuple.ZONE, tuple.zone);
  writer.close(nest);
}

function encodeIcmp(writer: MessageWriter, protocol: number, icmp: Icmp): void {
  const shift = protocol === L4.ICMPV6 ? CtaProto.ICMPV6_ID - CtaProto.ICMP_ID : 0;
  writer.u8(CtaProto.ICMP_CODE + shift, icmp.code).u8(CtaProto.ICMP_TYPE + shift, icmp.type);
  writer.u16BE(CtaProto.ICMP_ID + shift, icmp.id);
}

/** `src=10.0.0.1 dst=10.96.0.1 sport=1000 dport=53` */
export function printTuple(protocol: number, tuple: FlowTuple): string {
  const ends = `src=${tuple.src} dst=${tuple.dst}`;
  if (tuple.icmp) return `${ends} type=${tuple.icmp.type} code=${tuple.icmp.code} id=${tuple.icmp.id}`;
  if (!hasPorts(protocol)) return ends;
  const [src, dst] = [tuple.srcPort, tuple.dstPort];
  return protocol === L4.GRE
    ? `${ends} srckey=0x${src.toString(16)} dstkey=0x${dst.toString(16)}`
    : `${ends} sport=${src} dport=${dst}`;
}

/** Whether the kernel tracks ports of this protocol. It tracks other protocols by their addresses only. */
export function hasPorts(protocol: number): boolean {
  switch (protocol) {
    case L4.TCP:
    case L4.UDP:
    case L4.SCTP:
    case L4.DCCP:
    case L4.UDPLITE:
    case L4.GRE:
      return true;
    default:
      return false;
  }
}
