import { align, type MessageWriter } from '../netlink/index.ts';
import { Cta, TYPE_MASK } from './attributes.ts';
import { L4 } from './protocol.ts';

const ProtoInfo = { TCP: 1, SCTP: 3 } as const;
const TcpInfo = { STATE: 1, FLAGS_ORIGINAL: 4, FLAGS_REPLY: 5 } as const;
const SctpInfo = { STATE: 1, VTAG_ORIGINAL: 2, VTAG_REPLY: 3 } as const;

const TCP_STATES = [
  'NONE',
  'SYN_SENT',
  'SYN_RECV',
  'ESTABLISHED',
  'FIN_WAIT',
  'CLOSE_WAIT',
  'LAST_ACK',
  'TIME_WAIT',
  'CLOSE',
  'SYN_SENT2',
] as const;

const SCTP_STATES = [
  'NONE',
  'CLOSED',
  'COOKIE_WAIT',
  'COOKIE_ECHOED',
  'ESTABLISHED',
  'SHUTDOWN_SENT',
  'SHUTDOWN_RECD',
  'SHUTDOWN_ACK_SENT',
  'HEARTBEAT_SENT',
  'HEARTBEAT_ACKED',
] as const;

/** The state of a TCP or SCTP connection, as `conntrack --state` names it. */
export type FlowState = (typeof TCP_STATES)[number] | (typeof SCTP_STATES)[number];

export function encodeState(writer: MessageWriter, protocol: number, state: FlowState): void {
  const number = statesOf(protocol).indexOf(state);
  if (number < 0) throw new RangeError(`protocol ${protocol} has no state ${state}`);
  const info = writer.nest(Cta.PROTOINFO);
  if (protocol === L4.TCP) {
    const tcp = writer.nest(ProtoInfo.TCP);
    writer.u8(TcpInfo.STATE, number);
    // Flags and their mask: be liberal with windows, and allow selective acknowledgements. The sequence numbers of
    // an entry that was made by hand are not known, so strict tracking would call its packets invalid.
    const flags = Buffer.from([0x0a, 0x0a]);
    writer.data(TcpInfo.FLAGS_ORIGINAL, flags).data(TcpInfo.FLAGS_REPLY, flags).close(tcp);
  } else {
    const sctp = writer.nest(ProtoInfo.SCTP);
    // The kernel requires verification tags with the state. For an entry that was made by hand they are not known.
    writer.u8(SctpInfo.STATE, number).u32(SctpInfo.VTAG_ORIGINAL, 0).u32(SctpInfo.VTAG_REPLY, 0).close(sctp);
  }
  writer.close(info);
}

/** Reads the state from the value of CTA_PROTOINFO between `start` and `end`. */
export function decodeState(bytes: Buffer, start: number, end: number): FlowState | undefined {
  if (start + 4 > end) return undefined;
  const length = bytes.readUInt16LE(start);
  const kind = bytes.readUInt16LE(start + 2) & TYPE_MASK;
  const states = kind === ProtoInfo.TCP ? TCP_STATES : kind === ProtoInfo.SCTP ? SCTP_STATES : undefined;
  if (!states || start + length > end) return undefined;
  for (let at = start + 4; at + 5 <= start + length; ) {
    const inner = bytes.readUInt16LE(at);
    if (inner < 5) return undefined;
    if ((bytes.readUInt16LE(at + 2) & TYPE_MASK) === TcpInfo.STATE) return states[bytes.readUInt8(at + 4)];
    at += align(inner);
  }
  return undefined;
}

function statesOf(protocol: number): readonly FlowState[] {
  if (protocol === L4.TCP) return TCP_STATES;
  return protocol === L4.SCTP ? SCTP_STATES : [];
}
