import { printKey, type Service, ServiceFlag } from '../../../kernel/ipvs/index.ts';
import type { Endpoint } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';
import { hashesPorts, type SchedulerContext, schedulerOf } from './scheduler.ts';
import { type RealServerWeights, weightsOf } from './weights.ts';

/** One address and port of a Service, and the endpoints behind it. */
export interface VirtualServer {
  /** `-t 10.96.0.1:80`, as ipvsadm names it. */
  readonly id: string;
  readonly kind: Frontend['kind'];
  readonly service: Service;
  readonly endpoints: readonly Endpoint[];
  readonly weights: RealServerWeights;
}

const HASH_PORTS = ServiceFlag.SCHED2;

export function virtualServer(
  context: SchedulerContext,
  plan: ServicePortPlan,
  frontend: Frontend,
  ip: Ip,
): VirtualServer {
  const { protocol, affinitySeconds } = plan.port;
  const key = { kind: 'address', protocol, address: ip, port: frontend.port } as const;
  const endpoints = endpointsFor(plan, frontend);
  const weights = weightsOf(endpoints, plan.balance);
  const scheduler = schedulerOf(context, plan, weights !== undefined);
  const flags = (affinitySeconds > 0 ? ServiceFlag.PERSISTENT : 0) | (hashesPorts(plan, scheduler) ? HASH_PORTS : 0);
  return {
    id: printKey(key),
    kind: frontend.kind,
    service: { key, scheduler, flags, timeout: affinitySeconds },
    endpoints,
    weights,
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
