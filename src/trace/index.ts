export type { PacketSelection, SelectedDestination, SelectedProtocol } from './selection.ts';
export { resultOf, summaryOf } from './summary.ts';
export { TraceError } from './trace-error.ts';
export type {
  ChainStep,
  Ends,
  RewriteStep,
  RuleStep,
  TracedPacket,
  TraceOutcome,
  TraceStep,
} from './traced-packet.ts';
export { Tracer, type TracerHandlers, type TracerOptions } from './tracer.ts';
