export {
  type EndpointChoice,
  type LoopbackNodePorts,
  type ModeBehaviour,
  PLAN_BEHAVIOUR,
  type SocketBehaviour,
  type SocketDecision,
  type SocketNode,
  usualChoice,
} from './behaviour.ts';
export type { Cleanup } from './cleanup-report.ts';
export {
  type CleanupOptions,
  type ConfiguredMode,
  EBPF_SOCKETS,
  type ModeContext,
  type ModeDescriptor,
  type ModeFlags,
  type ModeMachine,
  type SocketScope,
  type StartContext,
  type StartEvent,
  withOptions,
} from './descriptor.ts';
export { ConnectionEnder, type EndReport } from './ending/index.ts';
export type { FrontendConnections, ReadConnections } from './frontend-connections.ts';
export type { ProgramOptions } from './iptables-programs.ts';
export { LeftoverError, leftoverOf } from './leftover.ts';
export type { ListedBlock, ListedLine, ListedLink, ListedPart, Listing, NotListed } from './listing.ts';
export {
  type ConnectedSocket,
  type Measure,
  type MeasureObserver,
  type Mode,
  type ModeCondition,
  type ModeEvents,
  type ModeFailure,
  type ModeSettings,
  type Repair,
  SILENT_EVENTS,
  type SocketAddress,
  type SocketReading,
  SYNC_PERIOD_MS,
  SyncError,
  type SyncReport,
} from './mode.ts';
export { NodeAddresses } from './node-addresses.ts';
export type { PlanBook } from './plan-book.ts';
export { type EntryState, entryState, type KernelEntry, type KernelReading, type PinnedClient } from './read-back.ts';
export { configuredMode, createMode, DEFAULT_MODE, MODES, modeNamed } from './registry.ts';
export { type SetAside, type SetAsideCause, setAsideName, setAsideService } from './set-aside.ts';
export { ModeShell, type ShellOptions } from './shell.ts';
export { StaleFlowCleaner } from './stale-flow-cleaner.ts';
export type { ServicePortTraffic, TrafficFigures } from './traffic/index.ts';
export { connectionCounts, FIGURES, plusFigures, registerTraffic, TrafficReader } from './traffic/index.ts';
export type { Drift, DriftLook, WriteOutcome, Writer } from './writer.ts';
