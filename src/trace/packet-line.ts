import { summaryOf } from './summary.ts';
import type { TracedPacket } from './traced-packet.ts';

export const TRACE_SCHEMA = 'pointsman.trace/v1';

/** A packet as JSON has it. */
export interface TracedLine extends Omit<TracedPacket, 'at'> {
  readonly kind: 'packet';
  /** From 1. */
  readonly number: number;
  /** When the trace of the packet was complete, in the form of RFC 3339. */
  readonly at: string;
  /** The packet in one line. */
  readonly summary: string;
}

export function packetLine(packet: TracedPacket, number: number): TracedLine {
  return {
    kind: 'packet',
    number,
    ...packet,
    at: new Date(packet.at).toISOString(),
    summary: summaryOf(packet),
  };
}
