import type { ProbeOutcome } from '../machine/index.ts';
import type { TraceCounts, TracedLine } from '../trace/index.ts';

/** The first line of `/v1/trace`. */
export interface TraceHead {
  readonly schema: string;
  /** The packets that it follows: `from this node to 10.96.0.10:80/tcp`. */
  readonly name: string;
  readonly seconds: number;
  readonly packets: number;
  /** What the trace cannot see here. */
  readonly notice?: string | undefined;
}

/** A further line of `/v1/trace`. */
export type TraceLine =
  | TracedLine
  | SentLine
  /** The trace has ended. */
  | ({ readonly kind: 'end' } & TraceCounts)
  /** The trace broke off. */
  | { readonly kind: 'failed'; readonly error: string };

/** What the connection of the server itself got. */
export interface SentLine {
  readonly kind: 'sent';
  /** `10.96.0.10:80` */
  readonly to: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly outcome: ProbeOutcome;
  readonly ms: number;
}
