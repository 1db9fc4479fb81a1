import { NONE } from '../lib/none.ts';
import { sameList } from '../lib/same-list.ts';
import {
  type Endpoint,
  type NodeTopology,
  type ServicePort,
  type ServiceState,
  sameEndpoints,
  sameServicePort,
  servicePortName,
} from '../model/index.ts';
import type { Conflict } from './address-owners.ts';
import { type Balance, type BalanceOptions, type LiveEndpoints, planBalance, sameBalance } from './balance.ts';
import { type ChosenEndpoints, chooseEndpoints, filterEndpoints, withoutEjected } from './choose-endpoints.ts';
import { type Frontend, type FrontendOptions, planFrontends } from './frontend.ts';

/** What should be programmed for one service port in one IP family, independent of the mode. */
export interface ServicePortPlan {
  /** `ns/name` */
  readonly service: string;
  readonly port: ServicePort;
  /** The cluster IP first, then external IPs, load-balancer IPs and the node port. */
  readonly frontends: readonly Frontend[];
  /** Frontends that the Service asks for but another Service has. */
  readonly conflicts: readonly Conflict[];
  readonly endpoints: ChosenEndpoints;
  /** Undefined for the usual case: all endpoints weigh the same, and the mode chooses as it always does. */
  readonly balance: Balance | undefined;
  /** All endpoints on this node, usable or not. Each may have connections to itself. */
  readonly onNode: readonly Endpoint[];
}

export interface PlanOptions extends FrontendOptions, BalanceOptions {
  readonly node: NodeTopology;
}

export function planService(
  service: ServiceState,
  options: PlanOptions,
  live?: LiveEndpoints,
): readonly ServicePortPlan[] {
  return service.ports.map(port => {
    const all = endpointsOf(service, port);
    const known = live && !live.isEmpty ? live.of(servicePortId(service.key, port)) : undefined;
    const endpoints = withoutEjected(chooseEndpoints(all, port, options.node), known);
    const onNode = filterEndpoints(all, ({ isLocal }) => isLocal);
    const frontends = planFrontends(port, endpoints, options);
    const balance = planBalance(port, endpoints, options, known);
    return { service: service.key, port, frontends, conflicts: NONE, endpoints, balance, onNode };
  });
}

/** The endpoints by slot: a mode that gives each slot the same chance does what the Service asks for. */
export function slotsOf({ balance, endpoints }: ServicePortPlan): Pick<ChosenEndpoints, 'cluster' | 'local'> {
  return balance?.slots ?? endpoints;
}

/** All endpoints of a port, usable or not. */
export function endpointsOf(service: ServiceState, port: ServicePort): readonly Endpoint[] {
  const found = service.endpoints.find(({ name, protocol }) => name === port.name && protocol === port.protocol);
  return found?.endpoints ?? NONE;
}

/** `ns/name:port`, as in logs and in comments of rules. */
export function planName({ service, port }: ServicePortPlan): string {
  return servicePortName(service, port.name);
}

/** Unique among the plans of a family. */
export function planId({ service, port }: Pick<ServicePortPlan, 'service' | 'port'>): string {
  return servicePortId(service, port);
}

function servicePortId(service: string, port: ServicePort): string {
  return `${servicePortName(service, port.name)}/${port.protocol}`;
}

/** Names alone do not identify a port: only the API server checks that they are unique in a Service. */
export function samePort(a: ServicePort, b: ServicePort): boolean {
  return a.name === b.name && a.protocol === b.protocol;
}

export function samePlan(a: ServicePortPlan, b: ServicePortPlan): boolean {
  return (
    a.endpoints.hasEndpoints === b.endpoints.hasEndpoints &&
    sameServicePort(a.port, b.port) &&
    sameEndpoints(a.endpoints.cluster, b.endpoints.cluster) &&
    sameEndpoints(a.endpoints.local, b.endpoints.local) &&
    sameBalance(a.balance, b.balance) &&
    sameList(a.frontends, b.frontends, sameFrontend) &&
    sameList(a.conflicts, b.conflicts, sameConflict) &&
    sameList(a.onNode, b.onNode, sameAddress)
  );
}

function sameAddress(a: Endpoint, b: Endpoint): boolean {
  return a.text === b.text;
}

function sameConflict(a: Conflict, b: Conflict): boolean {
  return a.frontend.ip === b.frontend.ip && a.owner === b.owner;
}

/** Compares the fields that depend on the options. The other fields depend on the port alone. */
function sameFrontend(a: Frontend, b: Frontend): boolean {
  return (
    a.kind === b.kind &&
    a.ip === b.ip &&
    a.action === b.action &&
    a.shortCircuit === b.shortCircuit &&
    a.masquerade === b.masquerade &&
    a.firewall?.includesNode === b.firewall?.includesNode
  );
}
