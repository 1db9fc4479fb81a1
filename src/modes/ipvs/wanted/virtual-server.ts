import { printKey, type Service, ServiceFlag } from '../../../kernel/ipvs/index.ts';
import type { Endpoint } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';

/** One address and port of a Service, and the endpoints behind it. */
export interface VirtualServer {
  /** `-t 10.96.0.1:80`, as ipvsadm names it. */
  readonly id: string;
  readonly kind: Frontend['kind'];
  readonly service: Service;
  readonly endpoints: readonly Endpoint[];
}

export const DEFAULT_SCHEDULER = 'rr';

/** Lets maglev hash the client's port too. Otherwise all connections of a node would go to one endpoint. */
const HASH_PORTS = ServiceFlag.SCHED2;

export function virtualServer(plan: ServicePortPlan, frontend: Frontend, ip: Ip, scheduler: string): VirtualServer {
  const { protocol, affinitySeconds } = plan.port;
  const key = { kind: 'address', protocol, address: ip, port: frontend.port } as const;
  const flags = (affinitySeconds > 0 ? ServiceFlag.PERSISTENT : 0) | (scheduler === 'mh' ? HASH_PORTS : 0);
  return {
    id: printKey(key),
    kind: frontend.kind,
    service: { key, scheduler, flags, timeout: affinitySeconds },
    endpoints: endpointsFor(plan, frontend),
  };
}

/** ipvs cannot drop. So policy Local without local endpoints forwards to the cluster endpoints. */
function endpointsFor({ endpoints }: ServicePortPlan, { policy }: Frontend): readonly Endpoint[] {
  return policy === 'Local' && endpoints.local.length > 0 ? endpoints.local : endpoints.cluster;
}

/** Whether two virtual servers have the same scheduler and persistence. Ignores their real servers. */
export function sameService(a: Service, b: Service): boolean {
  return a.scheduler === b.scheduler && (a.flags ?? 0) === (b.flags ?? 0) && (a.timeout ?? 0) === (b.timeout ?? 0);
}
