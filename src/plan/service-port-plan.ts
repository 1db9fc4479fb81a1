import {
  type Endpoint,
  NONE,
  type NodeTopology,
  type ServicePort,
  type ServiceState,
  sameEndpoints,
  sameServicePort,
  servicePortName,
} from '../model/index.ts';
import { type ChosenEndpoints, chooseEndpoints, keep } from './choose-endpoints.ts';
import type { Conflict } from './claims.ts';
import { type Frontend, type FrontendOptions, frontends } from './frontend.ts';

/** What should be programmed for one Service port in one IP family, for no mode in particular. */
export interface ServicePortPlan {
  /** `ns/name` */
  readonly service: string;
  readonly port: ServicePort;
  /** The cluster IP first, then external IPs, load-balancer IPs and the node port. */
  readonly frontends: readonly Frontend[];
  /** Frontends that it should have but another Service has. */
  readonly conflicts: readonly Conflict[];
  readonly endpoints: ChosenEndpoints;
  /** All endpoints on this node, usable or not: each may still be connected to itself. */
  readonly onNode: readonly Endpoint[];
}

export interface PlanOptions extends FrontendOptions {
  readonly node: NodeTopology;
}

export function planService(service: ServiceState, options: PlanOptions): readonly ServicePortPlan[] {
  return service.ports.map(port => {
    const all = endpointsOf(service, port);
    const endpoints = chooseEndpoints(all, port, options.node);
    const onNode = keep(all, ({ isLocal }) => isLocal);
    const wanted = frontends(port, endpoints, options);
    return { service: service.key, port, frontends: wanted, conflicts: NONE, endpoints, onNode };
  });
}

/** All endpoints of a port, usable or not. */
export function endpointsOf(service: ServiceState, port: ServicePort): readonly Endpoint[] {
  const of = service.endpoints.find(({ name, protocol }) => name === port.name && protocol === port.protocol);
  return of?.endpoints ?? NONE;
}

/** `ns/name:port`, as logs and comments have it. */
export function planName({ service, port }: ServicePortPlan): string {
  return servicePortName(service, port.name);
}

/** No other plan of the family has it. */
export function planId(plan: ServicePortPlan): string {
  return `${planName(plan)}/${plan.port.protocol}`;
}

/** Port names are unique in a Service only by what the API server checks, so the protocol is part of the identity. */
export function samePort(a: ServicePort, b: ServicePort): boolean {
  return a.name === b.name && a.protocol === b.protocol;
}

export function samePlan(a: ServicePortPlan, b: ServicePortPlan): boolean {
  return (
    a.endpoints.hasEndpoints === b.endpoints.hasEndpoints &&
    sameServicePort(a.port, b.port) &&
    sameEndpoints(a.endpoints.cluster, b.endpoints.cluster) &&
    sameEndpoints(a.endpoints.local, b.endpoints.local) &&
    sameFrontends(a.frontends, b.frontends) &&
    sameConflicts(a.conflicts, b.conflicts) &&
    sameAddresses(a.onNode, b.onNode)
  );
}

function sameAddresses(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  return a === b || (a.length === b.length && a.every(({ text }, i) => text === b[i]?.text));
}

function sameConflicts(a: readonly Conflict[], b: readonly Conflict[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ frontend, owner }, i) => frontend.ip === b[i]?.frontend.ip && owner === b[i]?.owner)
  );
}

/** Which frontends there are, and what the options decide of them; the rest follows from the port. */
function sameFrontends(a: readonly Frontend[], b: readonly Frontend[]): boolean {
  return (
    a.length === b.length &&
    a.every((frontend, i) => {
      const other = b[i];
      return (
        other !== undefined &&
        frontend.kind === other.kind &&
        frontend.ip === other.ip &&
        frontend.action === other.action &&
        frontend.shortCircuit === other.shortCircuit &&
        frontend.masquerade === other.masquerade &&
        frontend.firewall?.includesNode === other.firewall?.includesNode
      );
    })
  );
}
