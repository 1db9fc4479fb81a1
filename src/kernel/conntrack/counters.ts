import { align } from '../netlink/index.ts';
import { TYPE_MASK } from './attributes.ts';

/** What went through a flow, in both directions. Exact up to 2⁵³. */
export interface FlowCounters {
  readonly packets: number;
  readonly bytes: number;
}

const Counter = { PACKETS: 1, BYTES: 2 } as const;
const U32 = 0x1_0000_0000;

/** Adds the counters of one direction: the value of CTA_COUNTERS_ORIG or CTA_COUNTERS_REPLY between `start` and `end`. */
export function plusCounters(
  known: FlowCounters | undefined,
  body: Buffer,
  start: number,
  end: number,
): FlowCounters | undefined {
  let { packets, bytes } = known ?? { packets: 0, bytes: 0 };
  for (let at = start; at + 12 <= end; ) {
    const header = body.readInt32LE(at);
    const length = header & 0xffff;
    if (length < 12 || at + length > end) break;
    const type = (header >>> 16) & TYPE_MASK;
    // Two halves: a BigInt for each counter of a million flows would cost more than reading them.
    const value = body.readUInt32BE(at + 4) * U32 + body.readUInt32BE(at + 8);
    if (type === Counter.PACKETS) packets += value;
    else if (type === Counter.BYTES) bytes += value;
    at += align(length);
  }
  return { packets, bytes };
}
