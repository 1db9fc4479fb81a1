import type { Problem } from '../../lib/problem.ts';
import type { ServiceState } from '../../model/index.ts';
import { FAMILIES, type Family, formatCidr } from '../../net/index.ts';
import {
  endpointsOf,
  explainEndpoints,
  explainTopology,
  type Frontend,
  type ServicePortPlan,
} from '../../plan/index.ts';
import type { ProxyState } from '../../proxy/index.ts';

/** The output of `kube-proxy plan` as plain data. JSON and YAML show it as it is; the text is made from it. */
export interface PlanReport {
  readonly node: NodeReport;
  readonly services: readonly ServiceReport[];
  readonly problems: readonly Problem[];
}

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
  /** Absent for a node port, which belongs to every address that accepts node ports. */
  readonly address?: string;
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

export function planReport(state: ProxyState, nodeName: string, problems: readonly Problem[]): PlanReport {
  const { nodeIPs, notice, families } = state.nodeOptions;
  const addresses = [nodeIPs.primary, ...FAMILIES.filter(family => family !== nodeIPs.primary)].map(
    family => nodeIPs[family],
  );
  return {
    node: {
      name: nodeName,
      zone: families.IPv4.node.zone,
      addresses,
      primaryFamily: nodeIPs.primary,
      ...(notice ? { notice } : {}),
    },
    services: serviceReports(state),
    problems,
  };
}

function serviceReports(state: ProxyState): readonly ServiceReport[] {
  const keys = new Set(
    FAMILIES.flatMap(family => [...state.family(family).planner.plans()].map(({ service }) => service)),
  );
  return [...keys].sort().map(key => {
    const [namespace = '', name = ''] = key.split('/');
    const ports = FAMILIES.flatMap(family => {
      const { model, planner } = state.family(family);
      const service = model.service(key);
      if (!service) return [];
      return planner.plansOf(key).map(plan => portReport(service, plan, family, state));
    });
    return { namespace, name, ports };
  });
}

function portReport(service: ServiceState, plan: ServicePortPlan, family: Family, state: ProxyState): PortReport {
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
    frontends: plan.frontends.map(frontend => frontendReport(frontend, plan)),
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

function frontendReport(frontend: Frontend, { endpoints }: ServicePortPlan): FrontendReport {
  const { kind, ip, port, policy, action, shortCircuit, masquerade, firewall } = frontend;
  const targets = policy === 'Local' ? endpoints.local : endpoints.cluster;
  return {
    kind,
    ...(ip ? { address: ip } : {}),
    port,
    policy,
    action,
    endpoints: action === 'forward' ? targets.length : 0,
    shortCircuit,
    masquerade,
    ...(firewall ? { sourceRanges: firewall.sourceRanges.map(formatCidr) } : {}),
  };
}
