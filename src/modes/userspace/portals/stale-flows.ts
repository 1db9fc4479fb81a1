import { type ConntrackSocket, type Flow, L4 } from '../../../kernel/conntrack/index.ts';
import type { Family, Ip } from '../../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';
import type { ProxyPorts } from '../render.ts';

/** A portal of UDP whose rules changed, and the proxy ports that its rules lead to now. */
export interface ChangedPortal {
  readonly frontend: Frontend;
  readonly proxyPorts: readonly number[];
}

/** The portals of UDP that a service port had or has. */
export function changedPortals(
  plans: readonly (ServicePortPlan | undefined)[],
  ports: ProxyPorts,
): readonly ChangedPortal[] {
  const proxyPorts = Object.values(ports);
  return plans.flatMap(plan =>
    plan?.port.protocol === 'UDP' ? plan.frontends.map(frontend => ({ frontend, proxyPorts })) : [],
  );
}

/**
 * Makes the kernel forget flows of UDP that go to a proxy port of before, or to none: it goes on steering a flow as it
 * did at first. Returns how many there were.
 */
export async function forgetStaleFlows(
  conntrack: ConntrackSocket,
  family: Family,
  portals: readonly ChangedPortal[],
  own: ReadonlySet<Ip>,
): Promise<number> {
  const byAddress = new Map<string, Set<number>>();
  const byNodePort = new Map<number, Set<number>>();
  for (const { frontend, proxyPorts } of portals) {
    const { ip, port } = frontend;
    const known = ip === undefined ? byNodePort.get(port) : byAddress.get(`${ip} ${port}`);
    const ports = new Set([...(known ?? []), ...proxyPorts]);
    if (ip === undefined) byNodePort.set(port, ports);
    else byAddress.set(`${ip} ${port}`, ports);
  }
  const isStale = ({ original: { dst, dstPort = 0 }, reply }: Flow) => {
    const ports = byAddress.get(`${dst} ${dstPort}`) ?? (own.has(dst) ? byNodePort.get(dstPort) : undefined);
    return ports !== undefined && !ports.has(reply.srcPort ?? 0);
  };
  const stale: Flow[] = [];
  for await (const flow of conntrack.stream({ family, protocol: L4.UDP })) if (isStale(flow)) stale.push(flow);
  return stale.length === 0 ? 0 : (await conntrack.delete(stale)).deleted;
}
