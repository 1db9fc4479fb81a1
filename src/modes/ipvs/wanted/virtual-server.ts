import { printKey, type Service, ServiceFlag } from '../../../kernel/ipvs/index.ts';
import type { Endpoint } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';

/** Where a Service answers, and who serves it. */
export interface VirtualServer {
  /** `-t 10.96.0.1:80`, as ipvsadm names it. */
  readonly id: string;
  readonly kind: Frontend['kind'];
  readonly service: Service;
  readonly endpoints: readonly Endpoint[];
}

export const DEFAULT_SCHEDULER = 'rr';

/** A client's port is part of what maglev hashes, or all connections of a node would go to one endpoint. */
const WITH_PORT = ServiceFlag.SCHED2;

export function virtualServer(plan: ServicePortPlan, frontend: Frontend, ip: Ip, scheduler: string): VirtualServer {
  const { protocol, affinitySeconds } = plan.port;
  const key = { kind: 'address', protocol, address: ip, port: frontend.port } as const;
  const flags = (affinitySeconds > 0 ? ServiceFlag.PERSISTENT : 0) | (scheduler === 'mh' ? WITH_PORT : 0);
  return {
    id: printKey(key),
    kind: frontend.kind,
    service: { key, scheduler, flags, timeout: affinitySeconds },
    endpoints: endpointsFor(plan, frontend),
  };
}

/** Without local endpoints policy Local forwards to the others rather than to nobody: ipvs cannot drop. */
function endpointsFor({ endpoints }: ServicePortPlan, { policy }: Frontend): readonly Endpoint[] {
  return policy === 'Local' && endpoints.local.length > 0 ? endpoints.local : endpoints.cluster;
}

/** Whether the kernel has it as it should be, its destinations apart. */
export function sameService(a: Service, b: Service): boolean {
  return a.scheduler === b.scheduler && (a.flags ?? 0) === (b.flags ?? 0) && (a.timeout ?? 0) === (b.timeout ?? 0);
}
