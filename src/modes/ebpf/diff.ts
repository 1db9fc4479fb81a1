import { type PoolName, type SocketEndpoint, type SocketPort, type SocketTarget, sameEndpoints } from './render.ts';

/** What must be written so that the maps have one service port instead of another version of it. */
export interface PortDiff {
  /** Pools that need a new run of slots. */
  readonly changedPools: ReadonlyMap<PoolName, readonly SocketEndpoint[]>;
  /** Pools whose run stays. */
  readonly keptPools: readonly PoolName[];
  /** Targets that the service port no longer has. A target whose values changed is not among them. */
  readonly removedTargets: readonly SocketTarget[];
}

export function diffPorts(from: SocketPort | undefined, to: SocketPort | undefined): PortDiff {
  const changedPools = new Map<PoolName, readonly SocketEndpoint[]>();
  const keptPools: PoolName[] = [];
  for (const [name, endpoints] of to?.pools ?? []) {
    const before = from?.pools.get(name);
    if (before && sameEndpoints(before, endpoints)) keptPools.push(name);
    else changedPools.set(name, endpoints);
  }
  const removedTargets = from?.targets.filter(target => !to?.targets.some(other => samePlace(target, other))) ?? [];
  return { changedPools, keptPools, removedTargets };
}

function samePlace(a: SocketTarget, b: SocketTarget): boolean {
  return a.ip === b.ip && a.port === b.port;
}
