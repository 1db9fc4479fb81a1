export type { Cleanup } from './cleanup-report.ts';
export {
  type FrontendConnections,
  type Measure,
  type Mode,
  type ModeEvents,
  type ModeSettings,
  type ServiceCounters,
  type SetAside,
  SILENT_EVENTS,
  SYNC_PERIOD_MS,
  type SyncReport,
} from './mode.ts';
export { NodeAddresses } from './node-addresses.ts';
export type {
  OtherStatistics,
  RealServerStatistics,
  ServerStatistics,
  ServicePortStatistics,
  StatisticsOptions,
  Traffic,
} from './server-statistics.ts';
export { StaleFlowCleaner } from './stale-flow-cleaner.ts';
