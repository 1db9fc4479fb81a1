import type { ServicePort, ServiceState } from '../model/index.ts';
import type { ModeSettings } from '../modes/index.ts';
import { FAMILIES, type Family, formatCidr, type Ip } from '../net/index.ts';
import {
  type BalanceReport,
  balanceReport,
  endpointsOf,
  endpointWeight,
  explainEndpoints,
  explainTopology,
  type Frontend,
  type ServicePortPlan,
  slotsOf,
} from '../plan/index.ts';
import type { ProxyState } from '../proxy/index.ts';

/** What is planned for a Service, as plain data. */
export interface ServiceReport {
  readonly namespace: string;
  readonly name: string;
  readonly ports: readonly PortReport[];
}

export interface PortReport {
  readonly name: string;
  readonly protocol: string;
  readonly family: Family;
  readonly internalTrafficPolicy: 'Cluster' | 'Local';
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  readonly affinitySeconds?: number;
  readonly healthCheckNodePort?: number;
  /** Absent for the usual case: nobody chose, and the mode does what it always does. */
  readonly balance?: BalanceReport;
  readonly slowStartSeconds?: number;
  readonly ejectAfterFailures?: number;
  /** When connections of an endpoint that is gone end. Absent: they go on. */
  readonly resetAfterSeconds?: number;
  readonly frontends: readonly FrontendReport[];
  readonly topology?: string;
  readonly endpoints: readonly EndpointReport[];
}

export interface FrontendReport {
  readonly kind: Frontend['kind'];
  /** Absent for a node port. */
  readonly address?: string;
  /** For a node port: the addresses of the node that accept it. */
  readonly acceptedAt?: 'all' | readonly string[];
  readonly port: number;
  readonly policy: Frontend['policy'];
  readonly action: Frontend['action'];
  readonly endpoints: number;
  readonly shortCircuit: Frontend['shortCircuit'];
  readonly masquerade: Frontend['masquerade'];
  readonly sourceRanges?: readonly string[];
}

export interface EndpointReport {
  readonly address: string;
  readonly node?: string;
  readonly local: boolean;
  /** Absent if no traffic of the port has the policy. */
  readonly clusterPolicy?: EndpointDecision;
  readonly localPolicy?: EndpointDecision;
  /** Absent if all endpoints weigh the same. */
  readonly weight?: number;
  /** The part of its weight that it gets for now, from 0 to 1. Absent if that is all. */
  readonly part?: number;
}

export interface EndpointDecision {
  readonly used: boolean;
  readonly reason: string;
  /** The part of new connections that it gets, from 0 to 1. Absent without a balance: then all get the same. */
  readonly share?: number;
}

/** What a report of Services is made from. */
export interface ReportedState {
  readonly state: ProxyState;
  settings(family: Family): ModeSettings;
}

/** Returns a function that reports what is planned for a Service. Its key is `namespace/name`. */
export function serviceReporter(facts: ReportedState): (key: string) => ServiceReport {
  const nodePorts = nodePortsOf(facts);
  return key => {
    const [namespace = '', name = ''] = key.split('/');
    const ports = plannedPorts(key, facts.state).map(planned => portReport(planned, facts.state, nodePorts));
    return { namespace, name, ports };
  };
}

/** Returns a function that reports one port, for callers that take breaks between ports. */
export function portReporter(facts: ReportedState): (planned: PlannedPort) => PortReport {
  const nodePorts = nodePortsOf(facts);
  return planned => portReport(planned, facts.state, nodePorts);
}

/** A port of a Service in one family. */
export interface PlannedPort {
  readonly family: Family;
  readonly service: ServiceState;
  readonly plan: ServicePortPlan;
}

export function plannedPorts(key: string, state: ProxyState): readonly PlannedPort[] {
  return FAMILIES.flatMap(family => {
    const { model, planner } = state.family(family);
    const service = model.service(key);
    return service ? planner.plansOf(key).map(plan => ({ family, service, plan })) : [];
  });
}

type AcceptedAt = 'all' | readonly Ip[];

function nodePortsOf(facts: ReportedState): Readonly<Record<Family, AcceptedAt>> {
  const of = (family: Family): AcceptedAt => {
    const { nodePortAddresses, nodePortIPs } = facts.settings(family);
    return nodePortAddresses.matchAll ? 'all' : nodePortIPs;
  };
  return { IPv4: of('IPv4'), IPv6: of('IPv6') };
}

/** What the Service asks for when endpoints come, fail and go. */
function lifeOfEndpoints({
  options: { slowStartSeconds, ejectAfter, resetAfterSeconds },
  protocol,
}: ServicePort): Pick<PortReport, 'slowStartSeconds' | 'ejectAfterFailures' | 'resetAfterSeconds'> {
  return {
    ...(slowStartSeconds > 0 ? { slowStartSeconds } : {}),
    ...(ejectAfter > 0 && protocol === 'TCP' ? { ejectAfterFailures: ejectAfter } : {}),
    ...(resetAfterSeconds !== undefined && protocol === 'TCP' ? { resetAfterSeconds } : {}),
  };
}

function portReport(
  { service, plan, family }: PlannedPort,
  state: ProxyState,
  nodePorts: Readonly<Record<Family, AcceptedAt>>,
): PortReport {
  const { port } = plan;
  const { node } = state.nodeOptions.families[family];
  const endpoints = endpointsOf(service, port);
  const topology = explainTopology(endpoints, port, node);
  const balance = balanceReport(plan);
  const external = plan.frontends.length > 1;
  return {
    name: port.name,
    protocol: port.protocol,
    family,
    internalTrafficPolicy: port.internalPolicyLocal ? 'Local' : 'Cluster',
    ...(external ? { externalTrafficPolicy: port.externalPolicyLocal ? 'Local' : 'Cluster' } : {}),
    ...(port.affinitySeconds > 0 ? { affinitySeconds: port.affinitySeconds } : {}),
    ...(port.healthCheckNodePort > 0 ? { healthCheckNodePort: port.healthCheckNodePort } : {}),
    ...(balance ? { balance } : {}),
    ...lifeOfEndpoints(port),
    frontends: plan.frontends.map(frontend => frontendReport(frontend, plan, nodePorts[family])),
    ...(topology ? { topology } : {}),
    endpoints: explainEndpoints(endpoints, port, node, plan).map(({ endpoint, cluster, local }) => ({
      address: endpoint.text,
      ...(endpoint.nodeName ? { node: endpoint.nodeName } : {}),
      local: endpoint.isLocal,
      ...(cluster ? { clusterPolicy: cluster } : {}),
      ...(local ? { localPolicy: local } : {}),
      ...endpointWeight(plan, endpoint),
    })),
  };
}

function frontendReport(frontend: Frontend, plan: ServicePortPlan, acceptedAt: AcceptedAt): FrontendReport {
  const { kind, ip, port, policy, action, shortCircuit, masquerade, firewall } = frontend;
  const slots = slotsOf(plan);
  // An endpoint may have several slots, or none.
  const targets = new Set(policy === 'Local' ? slots.local : slots.cluster);
  return {
    kind,
    ...(ip ? { address: ip } : { acceptedAt }),
    port,
    policy,
    action,
    endpoints: action === 'forward' ? targets.size : 0,
    shortCircuit,
    masquerade,
    ...(firewall ? { sourceRanges: firewall.sourceRanges.map(formatCidr) } : {}),
  };
}
