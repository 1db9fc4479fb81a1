export { type FindService, type KnownPort, type KnownService, serviceOfReport } from './known-service.ts';
export { legacyNotice } from './legacy-notice.ts';
export {
  type NamedSelection,
  parseSelection,
  SelectionError,
} from './named-selection.ts';
export { packetLine, TRACE_SCHEMA, type TracedLine } from './packet-line.ts';
export { type OpenTracer, runTrace, type TraceCounts, type TraceRun } from './run-trace.ts';
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
