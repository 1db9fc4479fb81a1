import { objectKey } from '../../api/index.ts';
import type { Problem } from '../../lib/problem.ts';
import type { ServiceState } from '../../model/index.ts';
import { FAMILIES, type Family, formatCidr, type Ip } from '../../net/index.ts';
import {
  endpointsOf,
  explainEndpoints,
  explainTopology,
  type Frontend,
  type ServicePortPlan,
} from '../../plan/index.ts';
import type { ProxyState } from '../../proxy/index.ts';
import type { LoadedFacts } from '../facts/index.ts';
import { type NotServed, notServed } from './not-served.ts';
import type { ServiceSelection } from './select-services.ts';
import { sliceProblems } from './slice-problems.ts';

/** The output of `kube-proxy plan` as plain data. JSON and YAML show it as it is; the text is made from it. */
export interface PlanReport {
  readonly schema: typeof PLAN_SCHEMA;
  readonly node: NodeReport;
  readonly services: readonly ServiceReport[];
  /** The Services for which a proxy does nothing. */
  readonly notServed: readonly NotServed[];
  /** What the operator should know although nothing is wrong. */
  readonly notes: readonly string[];
  readonly problems: readonly Problem[];
}

export const PLAN_SCHEMA = 'pointsman.plan/v1';

export interface NodeReport {
  readonly name: string;
  readonly zone: string;
  readonly addresses: readonly string[];
  readonly primaryFamily: Family;
  readonly notice?: string;
}

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

/** The report of all Services that are selected. */
export function planReport(facts: LoadedFacts, selection: ServiceSelection): PlanReport {
  const { state, nodeName } = facts;
  const { nodeIPs, notice, families } = state.nodeOptions;
  const addresses = [nodeIPs.primary, ...FAMILIES.filter(family => family !== nodeIPs.primary)].map(
    family => nodeIPs[family],
  );
  const selected = [...facts.snapshot.services.values()].filter(({ metadata }) =>
    selection.isSelected(objectKey(metadata)),
  );
  return {
    schema: PLAN_SCHEMA,
    node: {
      name: nodeName,
      zone: families.IPv4.node.zone,
      addresses,
      primaryFamily: nodeIPs.primary,
      ...(notice ? { notice } : {}),
    },
    services: serviceReports(facts, selection),
    notServed: notServed(selected),
    notes: facts.notes,
    problems: [...facts.problems, ...sliceProblems(facts.snapshot), ...selection.problems],
  };
}

function serviceReports(facts: LoadedFacts, { isSelected }: ServiceSelection): readonly ServiceReport[] {
  const { state } = facts;
  const nodePorts = nodePortsOf(facts);
  const keys = new Set(
    FAMILIES.flatMap(family => [...state.family(family).planner.plans()].map(({ service }) => service)),
  );
  return [...keys]
    .filter(isSelected)
    .sort()
    .map(key => {
      const [namespace = '', name = ''] = key.split('/');
      const ports = FAMILIES.flatMap(family => {
        const { model, planner } = state.family(family);
        const service = model.service(key);
        if (!service) return [];
        return planner.plansOf(key).map(plan => portReport(service, plan, family, state, nodePorts[family]));
      });
      return { namespace, name, ports };
    });
}

type AcceptedAt = 'all' | readonly Ip[];

function nodePortsOf(facts: LoadedFacts): Readonly<Record<Family, AcceptedAt>> {
  const of = (family: Family): AcceptedAt => {
    const { nodePortAddresses, nodePortIPs } = facts.settings(family);
    return nodePortAddresses.matchAll ? 'all' : nodePortIPs;
  };
  return { IPv4: of('IPv4'), IPv6: of('IPv6') };
}

function portReport(
  service: ServiceState,
  plan: ServicePortPlan,
  family: Family,
  state: ProxyState,
  acceptedAt: AcceptedAt,
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
    frontends: plan.frontends.map(frontend => frontendReport(frontend, plan, acceptedAt)),
    ...(topology ? { topology } : {}),
    endpoints: explainEndpoints(endpoints, port, node).map(({ endpoint, cluster, local }) => ({
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
