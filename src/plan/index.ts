export { type Conflict, conflictProblems } from './address-owners.ts';
export { type Balance, type BalanceOptions, type LiveEndpoints, type LivePort, sameBalance } from './balance.ts';
export {
  type BalanceReport,
  balanceReport,
  balanceText,
  endpointWeight,
  slotShares,
  weightText,
} from './balance-report.ts';
export { type ChosenEndpoints, chooseEndpoints, reachableEndpoints } from './choose-endpoints.ts';
export { type ConntrackConfig, conntrackMax, conntrackSysctls, type Sysctl } from './conntrack-sysctls.ts';
export {
  type AddressOwner,
  type Connection,
  type EndedEndpoint,
  endedConnectionTest,
  endedEndpointKey,
  endedEndpoints,
  endedPortName,
  isStillEnded,
} from './ended-endpoints.ts';
export {
  type Decision,
  type EndpointExplanation,
  explainEndpoints,
  explainTopology,
  type IgnoredHints,
  ignoredHints,
  type Reason,
} from './explain-endpoints.ts';
export type { Action, Firewall, Frontend, FrontendOptions } from './frontend.ts';
export { type LocalhostListener, type LocalhostNodePort, localhostNodePort } from './localhost-node-port.ts';
export {
  DEFAULT_PLAN_SETTINGS,
  derivePlanOptions,
  type NodePlanOptions,
  type PlanSettings,
  samePlanOptions,
} from './options.ts';
export { type PlanDiff, type PlannedFrontend, Planner } from './planner.ts';
export {
  endpointsOf,
  type PlanOptions,
  planId,
  planName,
  planService,
  type ServicePortPlan,
  samePlan,
  samePort,
  slotsOf,
} from './service-port-plan.ts';
export { type Flow, STALE_PROTOCOLS, staleFlowTest, tcpFrontends } from './stale-flows.ts';
export { type TopologyMode, topologyMode } from './topology.ts';
