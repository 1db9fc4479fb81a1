import { objectKey, type Service } from '../api/index.ts';
import type { Endpoint } from '../model/index.ts';
import type { TrafficFigures } from '../modes/index.ts';
import { type BalanceReport, balanceReport, reachableEndpoints, type ServicePortPlan } from '../plan/index.ts';
import type { ListingContext } from './services-context.ts';
import { type ServiceState, stateOf } from './services-state.ts';

/** One Service as this node serves it. */
export interface ServiceRow {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  /** Cluster IPs first, then external and load-balancer IPs. */
  readonly addresses: readonly string[];
  /** `80/TCP`, or `80:30080/TCP` with a node port. */
  readonly ports: readonly string[];
  /** How many endpoint addresses this node uses, and how many there are, in each family that the Service has. */
  readonly endpoints: readonly EndpointCounts[];
  /** Connections so far. Undefined if the mode does not count them. */
  readonly connections: number | undefined;
  /** Only if the question asks for it. A figure that the mode does not count is missing. */
  readonly traffic?: TrafficFigures | undefined;
  /** Of its first port. Absent for the usual case: nobody chose, and the mode does what it always does. */
  readonly balance?: BalanceReport;
  readonly state: ServiceState;
  readonly reasons: readonly string[];
  /** When its plan or its endpoints changed last. Undefined if that is longer ago than the history goes. */
  readonly changed: string | undefined;
}

export interface EndpointCounts {
  readonly family: string;
  readonly used: number;
  readonly all: number;
}

export function serviceRow(service: Service, context: ListingContext): ServiceRow {
  const { metadata, spec, status } = service;
  const key = objectKey(metadata);
  const families = context.families.map(family => ({ family, plans: context.plansOf(family, key) }));
  const { state, reasons } = stateOf(
    service,
    key,
    families.flatMap(({ plans }) => plans),
    context,
  );
  const changed = context.lastChanges.get(key);
  const balance = balanceOf(families.flatMap(({ plans }) => plans));
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    type: spec.type,
    addresses: [
      ...(spec.clusterIPs.length > 0 ? spec.clusterIPs : [spec.clusterIP]),
      ...spec.externalIPs,
      ...status.loadBalancer.ingress.map(({ ip }) => ip),
    ].filter(ip => ip !== ''),
    ports: spec.ports.map(
      ({ port, nodePort, protocol }) => `${port}${nodePort === 0 ? '' : `:${nodePort}`}/${protocol}`,
    ),
    endpoints: families.flatMap(({ family, plans }) =>
      plans.length === 0 ? [] : [{ family, ...countEndpoints(plans, context) }],
    ),
    connections: context.connections && (context.connections.get(key) ?? 0),
    ...(balance ? { balance } : {}),
    state,
    reasons,
    changed: changed === undefined ? undefined : new Date(changed).toISOString(),
  };
}

function balanceOf([first]: readonly ServicePortPlan[]): BalanceReport | undefined {
  return first && balanceReport(first);
}

/** A Service whose object cannot be used at all. Undefined if there is no problem: then the Service is gone. */
export function unusableRow(
  { namespace, name }: Pick<Service['metadata'], 'namespace' | 'name'>,
  { problems, connections }: ListingContext,
): ServiceRow | undefined {
  const reasons = problems.get(objectKey({ namespace, name }));
  if (!reasons) return undefined;
  const nothing = { addresses: [], ports: [], endpoints: [], connections: connections && 0, changed: undefined };
  return { namespace, name, type: '', ...nothing, state: 'problem', reasons };
}

/** The ports of a Service usually have the same pods, so that addresses count and not ports. */
function countEndpoints(plans: readonly ServicePortPlan[], { allEndpoints }: ListingContext) {
  const [only] = plans;
  if (plans.length === 1 && only) return { used: reachableEndpoints(only.endpoints).length, all: allEndpoints(only) };
  const used = new Set<string>();
  const add = ({ ip }: Endpoint) => used.add(ip);
  for (const { endpoints } of plans) reachableEndpoints(endpoints).forEach(add);
  return { used: used.size, all: Math.max(used.size, ...plans.map(allEndpoints)) };
}
