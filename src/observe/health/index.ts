export { type Check, type CheckOutcome, type CheckResult, Checks } from './checks.ts';
export { type FamilyHealth, ProxyHealth, type ProxyHealthOptions } from './proxy-health.ts';
export { type ProxyHealthServerOptions, proxyHealthHandler, readinessResults } from './proxy-health-server.ts';
export {
  ServiceHealth,
  type ServiceHealthChange,
  type ServiceHealthFailure,
  type ServiceHealthOptions,
  serviceHealthNote,
} from './service-health.ts';
