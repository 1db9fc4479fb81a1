import type { Protocol } from '../api/index.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import { printable } from '../lib/printable.ts';
import { FAMILIES, type Family, type Ip } from '../net/index.ts';
import {
  endpointsOf,
  explainEndpoints,
  type Frontend,
  planName,
  reachableEndpoints,
  type ServicePortPlan,
} from '../plan/index.ts';
import type { ProxyState } from '../proxy/index.ts';

/** One address and port at which a service port accepts connections. */
export interface Row {
  /** Identifies the row, also after its plan has changed. */
  readonly key: string;
  readonly port: PortInfo;
  readonly frontend: Frontend;
  /** Undefined for a node port if no address of the node accepts node ports. */
  readonly ip: Ip | undefined;
}

/** The part that all rows of one service port share. */
export interface PortInfo {
  /** `ns/name:port` */
  readonly name: string;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly plan: ServicePortPlan;
  /** Endpoints that receive traffic. */
  readonly used: readonly string[];
  /** Endpoints that receive no traffic, and why. */
  readonly unused: readonly UnusedEndpoint[];
}

export interface UnusedEndpoint {
  readonly endpoint: string;
  readonly reason: string;
}

/** Returns a row for every frontend, sorted by the name of the Service. */
export function rowsOf(state: ProxyState, nodePortIPs: (family: Family) => readonly Ip[]): readonly Row[] {
  const ports = FAMILIES.flatMap(family =>
    [...state.family(family).planner.plans()].map(plan => portInfo(state, family, plan)),
  );
  const byName = ports.sort((a, b) => compareTexts(a.plan.service, b.plan.service));
  return byName.flatMap(port =>
    port.plan.frontends.flatMap(frontend => {
      const ips = frontend.ip === undefined ? nodePortIPs(port.family) : [frontend.ip];
      return (ips.length === 0 ? [undefined] : ips).map(ip => row(port, frontend, ip));
    }),
  );
}

function row(port: PortInfo, frontend: Frontend, ip: Ip | undefined): Row {
  const key = [port.name, port.family, port.protocol, frontend.kind, ip ?? '*', frontend.port].join(' ');
  return { key, port, frontend, ip };
}

function portInfo(state: ProxyState, family: Family, plan: ServicePortPlan): PortInfo {
  const { port } = plan;
  const service = state.family(family).model.service(plan.service);
  const all = service ? endpointsOf(service, port) : [];
  const used = new Set(reachableEndpoints(plan.endpoints).map(({ text }) => text));
  const { node } = state.nodeOptions.families[family];
  const unused = explainEndpoints(all, port, node, plan)
    .filter(({ endpoint }) => !used.has(endpoint.text))
    .map(({ endpoint, cluster, local }) => ({
      endpoint: endpoint.text,
      reason: (cluster ?? local)?.reason ?? 'not used',
    }));
  // A terminal obeys some characters, and manifests can contain them.
  const name = printable(planName(plan));
  return {
    name,
    family,
    protocol: port.protocol,
    plan,
    used: [...used],
    unused,
  };
}
