import { type ConntrackSocket, type Flow, L4 } from '../../../kernel/conntrack/index.ts';
import type { Family, Ip } from '../../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';
import type { ProxyPorts } from '../render.ts';

/** A UDP portal whose rules changed, and the proxy ports to which its rules lead now. */
export interface ChangedPortal {
  readonly frontend: Frontend;
  readonly proxyPorts: readonly number[];
}

/** The UDP portals of a service port, from all versions of its plan. */
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
 * Removes UDP flows that lead to a former proxy port, or to none. The kernel would send their packets there as long as
 * the client goes on. Returns how many flows it removed.
 */
export async function removeStaleFlows(
  conntrack: ConntrackSocket,
  family: Family,
  portals: readonly ChangedPortal[],
  machineIPs: ReadonlySet<Ip>,
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
    const ports = byAddress.get(`${dst} ${dstPort}`) ?? (machineIPs.has(dst) ? byNodePort.get(dstPort) : undefined);
    return ports !== undefined && !ports.has(reply.srcPort ?? 0);
  };
  const stale: Flow[] = [];
  for await (const flow of conntrack.stream({ family, protocol: L4.UDP })) if (isStale(flow)) stale.push(flow);
  return stale.length === 0 ? 0 : (await conntrack.delete(stale)).deleted;
}
