import type { ServiceState } from '../model/index.ts';
import type { ModeSettings } from '../modes/index.ts';
import { FAMILIES, type Family, formatCidr, type Ip } from '../net/index.ts';
import { endpointsOf, explainEndpoints, explainTopology, type Frontend, type ServicePortPlan } from '../plan/index.ts';
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
  readonly clusterPolicy?: { readonly used: boolean; readonly reason: string };
  readonly localPolicy?: { readonly used: boolean; readonly reason: string };
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

function portReport(
  { service, plan, family }: PlannedPort,
  state: ProxyState,
  nodePorts: Readonly<Record<Family, AcceptedAt>>,
): PortReport {
  const { port } = plan;
  const { node } = state.nodeOptions.families[family];
  const endpoints = endpointsOf(service, port);
  const topology = explainTopology(endpoints, port, node);
  const external = plan.frontends.length > 1;
  return {
    name: port.name,
    protocol: port.protocol,
    family,
    internalTrafficPolicy: port.internalPolicyLocal ? 'Local' : 'Cluster',
    ...(external ? { externalTrafficPolicy: port.externalPolicyLocal ? 'Local' : 'Cluster' } : {}),
    ...(port.affinitySeconds > 0 ? { affinitySeconds: port.affinitySeconds } : {}),
    ...(port.healthCheckNodePort > 0 ? { healthCheckNodePort: port.healthCheckNodePort } : {}),
    frontends: plan.frontends.map(frontend => frontendReport(frontend, plan, nodePorts[family])),
    ...(topology ? { topology } : {}),
    endpoints: explainEndpoints(endpoints, port, node, plan.endpoints).map(({ endpoint, cluster, local }) => ({
      address: endpoint.text,
      ...(endpoint.nodeName ? { node: endpoint.nodeName } : {}),
      local: endpoint.isLocal,
      ...(cluster ? { clusterPolicy: cluster } : {}),
      ...(local ? { localPolicy: local } : {}),
    })),
  };
}

function frontendReport(frontend: Frontend, { endpoints }: ServicePortPlan, acceptedAt: AcceptedAt): FrontendReport {
  const { kind, ip, port, policy, action, shortCircuit, masquerade, firewall } = frontend;
  const targets = policy === 'Local' ? endpoints.local : endpoints.cluster;
  return {
    kind,
    ...(ip ? { address: ip } : { acceptedAt }),
    port,
    policy,
    action,
    endpoints: action === 'forward' ? targets.length : 0,
    shortCircuit,
    masquerade,
    ...(firewall ? { sourceRanges: firewall.sourceRanges.map(formatCidr) } : {}),
  };
}
