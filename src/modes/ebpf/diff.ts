import { NONE } from '../../lib/none.ts';
import { type PoolName, type SocketPool, type SocketPort, type SocketTarget, sameEndpoints } from './render.ts';

/** What must be written so that the maps have one version of a service port instead of another. */
export interface PortDiff {
  /** Pools that need a new run of slots. */
  readonly changedPools: readonly SocketPool[];
  /** Pools whose run stays. */
  readonly keptPools: readonly PoolName[];
  /** Targets that the service port no longer has. A target whose values changed is not among them. */
  readonly removedTargets: readonly SocketTarget[];
}

export function diffPorts(from: SocketPort | undefined, to: SocketPort | undefined): PortDiff {
  // These two are the usual cases for many service ports at once, so they take no memory.
  if (!from) return { changedPools: to?.pools ?? NONE, keptPools: NONE, removedTargets: NONE };
  if (!to) return { changedPools: NONE, keptPools: NONE, removedTargets: from.targets };
  const isKept = ({ name, endpoints }: SocketPool) =>
    from.pools.some(pool => pool.name === name && sameEndpoints(pool.endpoints, endpoints));
  return {
    changedPools: to.pools.filter(pool => !isKept(pool)),
    keptPools: to.pools.filter(isKept).map(({ name }) => name),
    removedTargets: from.targets.filter(target => !to.targets.some(other => samePlace(target, other))),
  };
}

function samePlace(a: SocketTarget, b: SocketTarget): boolean {
  return a.ip === b.ip && a.port === b.port;
}
