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
import { type ChosenEndpoints, chooseEndpoints, filterEndpoints } from './choose-endpoints.ts';
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
  /** All endpoints on this node, usable or not. Each may have connections to itself. */
  readonly onNode: readonly Endpoint[];
}

export interface PlanOptions extends FrontendOptions {
  readonly node: NodeTopology;
}

export function planService(service: ServiceState, options: PlanOptions): readonly ServicePortPlan[] {
  return service.ports.map(port => {
    const all = endpointsOf(service, port);
    const endpoints = chooseEndpoints(all, port, options.node);
    const onNode = filterEndpoints(all, ({ isLocal }) => isLocal);
    const frontends = planFrontends(port, endpoints, options);
    return { service: service.key, port, frontends, conflicts: NONE, endpoints, onNode };
  });
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
export function planId(plan: ServicePortPlan): string {
  return `${planName(plan)}/${plan.port.protocol}`;
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
