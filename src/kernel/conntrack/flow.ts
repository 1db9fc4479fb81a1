import type { Family } from '../../net/index.ts';
import { align, type MessageWriter } from '../netlink/index.ts';
import { Cta, TYPE_MASK } from './attributes.ts';
import { type FlowCounters, plusCounters } from './counters.ts';
import { nfgenmsg, readFamily } from './family.ts';
import { protocolName } from './protocol.ts';
import { decodeState, encodeState, type FlowState } from './state.ts';
import { printAssured, printUnreplied } from './status.ts';
import { encodeTuple, type FlowTuple, printTuple } from './tuple.ts';
import { TupleReader } from './tuple-reader.ts';

/** A connection that the kernel tracks. */
export interface Flow {
  readonly family: Family;
  /** The number of the layer 4 protocol, see `L4`. */
  readonly protocol: number;
  readonly original: FlowTuple;
  readonly reply: FlowTuple;
  /** Undefined means zone 0. */
  readonly zone?: number | undefined;
  /** Bits of `Status`. */
  readonly status?: number | undefined;
  /** Seconds until the kernel forgets the flow. */
  readonly timeout?: number | undefined;
  readonly mark?: number | undefined;
  /** Distinguishes the flow from an earlier flow with the same tuples. */
  readonly id?: number | undefined;
  readonly state?: FlowState | undefined;
  /** Of both directions. The kernel counts only while the sysctl `net.netfilter.nf_conntrack_acct` is on. */
  readonly counters?: FlowCounters | undefined;
}

/** Writes the body of CT_NEW, as `conntrack -I` sends it. */
export function encodeFlow(writer: MessageWriter, flow: Flow): void {
  writer.struct(nfgenmsg(flow.family));
  encodeTuple(writer, Cta.TUPLE_ORIG, flow.protocol, flow.original);
  encodeTuple(writer, Cta.TUPLE_REPLY, flow.protocol, flow.reply);
  if (flow.status !== undefined) writer.u32BE(Cta.STATUS, flow.status);
  if (flow.timeout !== undefined) writer.u32BE(Cta.TIMEOUT, flow.timeout);
  if (flow.mark !== undefined) writer.u32BE(Cta.MARK, flow.mark);
  if (flow.state !== undefined) encodeState(writer, flow.protocol, flow.state);
  if (flow.zone !== undefined) writer.u16BE(Cta.ZONE, flow.zone);
}

const tuples = new TupleReader();

/**
 * Decodes the body of CT_NEW, which the kernel sends for each flow of a dump. A table may hold a million flows, so this
 * function reads the attributes by offset and makes no object for each attribute.
 */
export function decodeFlow(body: Buffer): Flow | undefined {
  const family = readFamily(body[0]);
  if (family === undefined) return undefined;
  let protocol: number | undefined;
  let original: FlowTuple | undefined;
  let reply: FlowTuple | undefined;
  let zone: number | undefined;
  let status: number | undefined;
  let timeout: number | undefined;
  let mark: number | undefined;
  let id: number | undefined;
  let state: FlowState | undefined;
  let counters: FlowCounters | undefined;
  for (let at = 4; at + 6 <= body.length; ) {
    const header = body.readInt32LE(at);
    const length = header & 0xffff;
    const value = at + 4;
    const end = at + length;
    if (length < 4 || end > body.length) break;
    const type = (header >>> 16) & TYPE_MASK;
    if (type === Cta.TUPLE_ORIG) {
      original = tuples.read(body, value, end);
      protocol = tuples.protocol;
    } else if (type === Cta.TUPLE_REPLY) reply = tuples.read(body, value, end);
    else if (type === Cta.PROTOINFO) state = decodeState(body, value, end);
    else if (type === Cta.COUNTERS_ORIG || type === Cta.COUNTERS_REPLY)
      counters = plusCounters(counters, body, value, end);
    else if (type === Cta.ZONE && length >= 6) zone = body.readUInt16BE(value);
    else if (length >= 8) {
      if (type === Cta.STATUS) status = body.readUInt32BE(value);
      else if (type === Cta.TIMEOUT) timeout = body.readUInt32BE(value);
      else if (type === Cta.MARK) mark = body.readUInt32BE(value);
      else if (type === Cta.ID) id = body.readUInt32BE(value);
    }
    at += align(length);
  }
  if (protocol === undefined || !original || !reply) return undefined;
  const flow = { family, protocol, original, reply, zone, status, timeout, mark, id, state };
  return counters ? { ...flow, counters } : flow;
}

/** A line of `conntrack -L`, without `use=`: that counts the kernel's references and says nothing about the flow. */
export function printFlow(flow: Flow): string {
  const parts = [
    `${protocolName(flow.protocol).padEnd(8)} ${flow.protocol}`,
    flow.timeout,
    flow.state,
    printTuple(flow.protocol, flow.original),
    printZone('zone-orig', flow.original.zone),
    printUnreplied(flow.status),
    printTuple(flow.protocol, flow.reply),
    printZone('zone-reply', flow.reply.zone),
    printAssured(flow.status),
    flow.mark === undefined ? undefined : `mark=${flow.mark}`,
    printZone('zone', flow.zone),
  ];
  return parts.filter(part => part !== undefined).join(' ');
}

function printZone(word: string, zone: number | undefined): string | undefined {
  return zone ? `${word}=${zone}` : undefined;
}
