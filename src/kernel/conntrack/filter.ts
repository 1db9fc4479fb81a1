import { type Family, familyOf, type Ip, ipBytes } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { Cta, CtaIp, CtaProto, CtaTuple } from './attributes.ts';
import { nfgenmsg } from './family.ts';
import type { Flow } from './flow.ts';
import { protocolArgument } from './protocol.ts';
import { type FlowTuple, hasPorts } from './tuple.ts';

/** Which flows to list. A field that is left out matches every flow. */
export interface FlowFilter {
  readonly family?: Family;
  readonly protocol?: number;
  readonly original?: TupleFilter;
  readonly reply?: TupleFilter;
  readonly mark?: { readonly value: number; readonly mask: number };
  readonly zone?: number;
}

export interface TupleFilter {
  readonly src?: Ip;
  readonly dst?: Ip;
  readonly srcPort?: number;
  readonly dstPort?: number;
}

/** Flags for the fields of a tuple that the kernel shall compare: `CTA_FILTER_F_…`. */
const Compare = { IP_SRC: 1, IP_DST: 2, PROTO_NUM: 8, PROTO_SRC_PORT: 16, PROTO_DST_PORT: 32 } as const;
const CtaFilter = { ORIG_FLAGS: 1, REPLY_FLAGS: 2 } as const;

/**
 * Writes the part of a dump request that every kernel understands: family and mark. The kernel then sends more flows
 * than the filter matches, so the caller must check each flow with `matches`.
 */
export function encodePlainFilter(writer: MessageWriter, filter: FlowFilter): void {
  writer.struct(nfgenmsg(filterFamily(filter)));
  if (filter.mark) writer.u32BE(Cta.MARK, filter.mark.value).u32BE(Cta.MARK_MASK, filter.mark.mask);
}

/** True if `encodeFilter` and `encodePlainFilter` write the same bytes for this filter. */
export function isPlain(filter: FlowFilter): boolean {
  const tuples = comparedFields(filter, filter.original, true) | comparedFields(filter, filter.reply, false);
  return tuples === 0 && filter.zone === undefined;
}

/**
 * Writes the body of a dump request. The kernel compares tuples since 5.8 (CTA_FILTER), and the zone since 6.8. Older
 * kernels ignore these attributes. A kernel built without zones refuses a request with a zone with EOPNOTSUPP.
 */
export function encodeFilter(writer: MessageWriter, filter: FlowFilter): void {
  encodePlainFilter(writer, filter);
  if (filter.zone !== undefined) writer.u16BE(Cta.ZONE, filter.zone);
  const original = comparedFields(filter, filter.original, true);
  const reply = comparedFields(filter, filter.reply, false);
  if (original === 0 && reply === 0) return;
  const flags = writer.nest(Cta.FILTER);
  // These two are in the machine's byte order. All other attributes here are in network byte order.
  writer.u32(CtaFilter.ORIG_FLAGS, original).u32(CtaFilter.REPLY_FLAGS, reply).close(flags);
  if (original) encodeTupleFilter(writer, Cta.TUPLE_ORIG, filter.protocol, filter.original ?? {}, original);
  if (reply) encodeTupleFilter(writer, Cta.TUPLE_REPLY, filter.protocol, filter.reply ?? {}, reply);
}

/**
 * The fields of a tuple that the kernel can compare. It compares addresses only within a family, and ports only within
 * a protocol that has ports. It must not compare IPv6 addresses: kernels up to at least 6.18 leave out exactly the
 * flows that have the wanted address, and send all others.
 */
function comparedFields(filter: FlowFilter, tuple: TupleFilter = {}, withProtocol: boolean): number {
  const family = filterFamily(filter);
  if (family === undefined) return 0;
  let flags = 0;
  if (family === 'IPv4' && isV4(tuple.src)) flags |= Compare.IP_SRC;
  if (family === 'IPv4' && isV4(tuple.dst)) flags |= Compare.IP_DST;
  if (filter.protocol === undefined) return flags;
  if (hasPorts(filter.protocol)) {
    if (tuple.srcPort !== undefined) flags |= Compare.PROTO_SRC_PORT;
    if (tuple.dstPort !== undefined) flags |= Compare.PROTO_DST_PORT;
  }
  const ports = Compare.PROTO_SRC_PORT | Compare.PROTO_DST_PORT;
  return withProtocol || flags & ports ? flags | Compare.PROTO_NUM : flags;
}

function encodeTupleFilter(
  writer: MessageWriter,
  type: number,
  protocol: number | undefined,
  tuple: TupleFilter,
  flags: number,
): void {
  const nest = writer.nest(type);
  const ip = writer.nest(CtaTuple.IP);
  if (tuple.src !== undefined && flags & Compare.IP_SRC) writer.data(CtaIp.V4_SRC, ipBytes(tuple.src));
  if (tuple.dst !== undefined && flags & Compare.IP_DST) writer.data(CtaIp.V4_DST, ipBytes(tuple.dst));
  writer.close(ip);
  if (protocol !== undefined && flags & Compare.PROTO_NUM) {
    const proto = writer.nest(CtaTuple.PROTO);
    writer.u8(CtaProto.NUM, protocol);
    if (flags & Compare.PROTO_SRC_PORT) writer.u16BE(CtaProto.SRC_PORT, tuple.srcPort ?? 0);
    if (flags & Compare.PROTO_DST_PORT) writer.u16BE(CtaProto.DST_PORT, tuple.dstPort ?? 0);
    writer.close(proto);
  }
  writer.close(nest);
}

/** Compares a flow with the filter in this process, whatever the kernel has compared before. */
export function matches(filter: FlowFilter, flow: Flow): boolean {
  const { protocol, mark, zone } = filter;
  const family = filterFamily(filter);
  if (family !== undefined && flow.family !== family) return false;
  if (protocol !== undefined && flow.protocol !== protocol) return false;
  if (mark && ((flow.mark ?? 0) & mark.mask) >>> 0 !== mark.value >>> 0) return false;
  if (zone !== undefined && zoneOf(flow) !== zone) return false;
  return matchesTuple(filter.original, flow.original) && matchesTuple(filter.reply, flow.reply);
}

function matchesTuple(filter: TupleFilter | undefined, tuple: FlowTuple): boolean {
  if (!filter) return true;
  const { src, dst, srcPort, dstPort } = filter;
  return (
    (src === undefined || src === tuple.src) &&
    (dst === undefined || dst === tuple.dst) &&
    (srcPort === undefined || srcPort === tuple.srcPort) &&
    (dstPort === undefined || dstPort === tuple.dstPort)
  );
}

function zoneOf(flow: Flow): number {
  return flow.zone ?? flow.original.zone ?? flow.reply.zone ?? 0;
}

function filterFamily({ family, original, reply }: FlowFilter): Family | undefined {
  if (family) return family;
  const address = original?.src ?? original?.dst ?? reply?.src ?? reply?.dst;
  return address === undefined ? undefined : familyOf(address);
}

function isV4(ip: Ip | undefined): boolean {
  return ip !== undefined && familyOf(ip) === 'IPv4';
}

/** `conntrack -L -f ipv4 -p udp -d 10.96.0.1 --dport 53` */
export function printFilter(filter: FlowFilter): string {
  const { protocol, original = {}, reply = {}, mark, zone } = filter;
  const words: [string, string | number | undefined][] = [
    ['-f', filterFamily(filter)?.toLowerCase()],
    ['-p', protocol === undefined ? undefined : protocolArgument(protocol)],
    ['-s', original.src],
    ['-d', original.dst],
    ['--sport', original.srcPort],
    ['--dport', original.dstPort],
    ['-r', reply.src],
    ['-q', reply.dst],
    ['--reply-port-src', reply.srcPort],
    ['--reply-port-dst', reply.dstPort],
    ['-m', mark && `${mark.value}/${mark.mask}`],
    ['-w', zone],
  ];
  const given = words.filter(([, value]) => value !== undefined);
  return ['conntrack', '-L', ...given.flat()].join(' ');
}
