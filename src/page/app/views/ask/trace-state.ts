import type { TracedLine } from '../../../../trace/index.ts';
import type { SentLine, TraceHead, TraceLine } from '../../../index.ts';

/** What the page knows about a trace. */
export interface TraceState {
  readonly phase: 'opening' | 'running' | 'ended' | 'failed';
  readonly head: TraceHead | undefined;
  /** The newest first. */
  readonly packets: readonly TracedLine[];
  readonly sent: SentLine | undefined;
  /** How often the kernel dropped messages. */
  readonly overruns: number;
  readonly error: string | undefined;
}

export const OPENING: TraceState = {
  phase: 'opening',
  head: undefined,
  packets: [],
  sent: undefined,
  overruns: 0,
  error: undefined,
};

/** The state after a line of `/v1/trace`. */
export function withLine(state: TraceState, line: TraceHead | TraceLine): TraceState {
  if (!('kind' in line)) return { ...state, phase: 'running', head: line };
  switch (line.kind) {
    case 'packet':
      return { ...state, packets: [line, ...state.packets] };
    case 'sent':
      return { ...state, sent: line };
    case 'end':
      return { ...state, phase: 'ended', overruns: line.overruns };
    case 'failed':
      return withError(state, line.error);
  }
}

export function withError(state: TraceState, error: string): TraceState {
  return { ...state, phase: 'failed', error };
}

/** The operator ended the trace, or its answer is over. */
export function stopped(state: TraceState): TraceState {
  return state.phase === 'failed' ? state : { ...state, phase: 'ended' };
}

/** The packet to show until the reader chooses one: the newest that met the nat chains, or else the newest. */
export function packetToShow(packets: readonly TracedLine[]): TracedLine | undefined {
  return packets.find(({ skipsNat }) => !skipsNat) ?? packets[0];
}

/** One sentence about the trace, for the status line. */
export function traceText({ phase, head, packets }: TraceState): string {
  const seen =
    packets.length === 0 ? 'no packet yet' : `${packets.length} ${packets.length === 1 ? 'packet' : 'packets'}`;
  switch (phase) {
    case 'opening':
      return 'The proxy starts the trace.';
    case 'running':
      return `Following packets ${head?.name ?? ''}: ${seen}.`;
    case 'ended':
      return packets.length === 0 ? 'The trace ended. It saw no packet.' : `The trace ended after ${seen}.`;
    case 'failed':
      return 'The trace failed.';
  }
}
