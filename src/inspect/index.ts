export { ERROR_SCHEMA, errorAnswer, linesAnswer, objectAnswer, type Rows } from './answers.ts';
export {
  type AskOptions,
  askProxy,
  askProxyText,
  DEFAULT_SOCKET,
  openProxyAnswer,
  ProxyClientError,
  type ProxyClientErrorKind,
  readProxyLines,
} from './client.ts';
export { explainRoute } from './explain.ts';
export { type InspectionHandlerOptions, inspectionHandler } from './handler.ts';
export { HISTORY_SCHEMA, type HistoryParts, type HistoryRow, historyRoute, type MissedRow } from './history.ts';
export type * from './live-events.ts';
export { LiveHub, type LiveHubOptions } from './live-hub.ts';
export { LOCAL_SITE, localOnly, type OwnSite, siteRefusal } from './own-site.ts';
export { planRoute } from './plan.ts';
export { type ProblemsAnswer, problemsRoute } from './problems.ts';
export { PROGRAMMED_SCHEMA, type ProgrammedAnswer } from './programmed.ts';
export { PulseRecorder, type SyncPulse } from './pulse.ts';
export { type Parameter, type Query, QueryError, type Route } from './route.ts';
export { type InspectedProxy, type Inspection, inspect } from './routes.ts';
export { type ListedBlock, type ListedLine, type ListedPart, type RulesAnswer, rulesRoute } from './rules.ts';
export { type EndedSync, RunRecord } from './run-record.ts';
export * from './service-detail.ts';
export {
  type EndpointReport,
  type FrontendReport,
  type PortReport,
  type ReportedState,
  type ServiceReport,
  serviceReporter,
} from './service-report.ts';
export { type ListingParts, SERVICES_SCHEMA, serviceRows, servicesRoute } from './services.ts';
export { missingServiceText } from './services-missing.ts';
export type { EndpointCounts, ServiceRow } from './services-row.ts';
export { isBroken, type ServiceState } from './services-state.ts';
export { callerName } from './socket-counts.ts';
export { SocketKeeper, type SocketKeeperOptions } from './socket-keeper.ts';
export * from './socket-rows.ts';
export * from './status.ts';
export { type ConfigurationAnswer, configurationRoute, logRoute, metricsRoute } from './texts.ts';
export type { PortTraffic, TrafficAnswer } from './traffic.ts';
