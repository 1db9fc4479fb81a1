import type { MessageWriter } from '../netlink/index.ts';
import { Cta } from './attributes.ts';
import { nfgenmsg } from './family.ts';
import type { Flow } from './flow.ts';
import { L4, protocolArgument } from './protocol.ts';
import { encodeTuple, type FlowTuple, hasPorts } from './tuple.ts';

/** Identifies one flow: its original tuple and zone, and its id if that is known. */
export type FlowIdentity = Pick<Flow, 'family' | 'protocol' | 'original' | 'zone' | 'id'>;

/**
 * Writes the body of CT_GET and CT_DELETE. It always writes the tuple, because a delete without a tuple empties the
 * table. If the body has an id and a newer flow now has the tuple, the kernel answers ENOENT and keeps the newer flow.
 */
export function encodeIdentity(writer: MessageWriter, flow: FlowIdentity): void {
  writer.struct(nfgenmsg(flow.family));
  encodeTuple(writer, Cta.TUPLE_ORIG, flow.protocol, flow.original);
  if (flow.id !== undefined) writer.u32BE(Cta.ID, flow.id);
  if (flow.zone !== undefined) writer.u16BE(Cta.ZONE, flow.zone);
}

/** `conntrack -D -f ipv4 -p udp -s 10.0.0.1 -d 10.96.0.1 --sport 1000 --dport 53` */
export function printIdentity(verb: '-D' | '-G' | '-I', flow: FlowIdentity): string {
  const words = ['conntrack', verb, '-f', flow.family.toLowerCase(), '-p', protocolArgument(flow.protocol)];
  words.push(...printArguments(flow.protocol, flow.original));
  if (flow.zone) words.push('-w', String(flow.zone));
  return words.join(' ');
}

function printArguments(protocol: number, { src, dst, srcPort, dstPort, icmp }: FlowTuple): string[] {
  const words = ['-s', src, '-d', dst];
  if (icmp) {
    const name = protocol === L4.ICMPV6 ? 'icmpv6' : 'icmp';
    words.push(`--${name}-type`, `${icmp.type}`, `--${name}-code`, `${icmp.code}`, `--${name}-id`, `${icmp.id}`);
  } else if (protocol === L4.GRE) words.push('--srckey', `${srcPort}`, '--dstkey', `${dstPort}`);
  else if (hasPorts(protocol)) words.push('--sport', `${srcPort}`, '--dport', `${dstPort}`);
  return words;
}
