import type { MessageWriter } from '../netlink/index.ts';
import { Cta } from './attributes.ts';
import { genericHeader } from './family.ts';
import type { Flow } from './flow.ts';
import { L4, protocolArgument } from './protocol.ts';
import { encodeTuple, type FlowTuple, hasPorts } from './tuple.ts';

/** What names one flow among all: its original tuple and zone, and its id where that is known. */
export type FlowIdentity = Pick<Flow, 'family' | 'protocol' | 'original' | 'zone' | 'id'>;

/**
 * Writes the body of CT_GET and CT_DELETE. The tuple is always there, since a delete without one empties the table. With
 * an id, a flow that has taken the place of the one meant is left alone: the kernel answers ENOENT.
 */
export function encodeIdentity(writer: MessageWriter, flow: FlowIdentity): void {
  writer.struct(genericHeader(flow.family));
  encodeTuple(writer, Cta.TUPLE_ORIG, flow.protocol, flow.original);
  if (flow.id !== undefined) writer.u32BE(Cta.ID, flow.id);
  if (flow.zone !== undefined) writer.u16BE(Cta.ZONE, flow.zone);
}

/** `conntrack -D -f ipv4 -p udp -s 10.0.0.1 -d 10.96.0.1 --sport 1000 --dport 53`, `verb` being `-D` or `-G`. */
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
