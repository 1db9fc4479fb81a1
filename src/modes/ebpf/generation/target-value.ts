import { createHash } from 'node:crypto';
import { TargetFlag, type TargetValue } from '../programs/index.ts';
import { comparesAll, type PoolName, type SocketTarget } from '../render.ts';
import type { PlacedPort } from './placed-port.ts';

/**
 * Names a pool in what clients with session affinity remember. It is the same after a restart, when the numbers of pools
 * differ.
 */
export function poolIdentity(id: string, pool: PoolName): bigint {
  return createHash('sha256').update(`${id} ${pool}`).digest().readBigUInt64LE();
}

/** The value that a target has in `frontends`. Pool 0 is empty, and programs leave such a target alone. */
export function targetValue(
  { port, pools, counter }: Pick<PlacedPort, 'port' | 'pools' | 'counter'>,
  { to, isNodeOnly }: SocketTarget,
): TargetValue {
  const nodeOnly = isNodeOnly ? TargetFlag.nodeOnly : 0;
  if (to === 'refuse')
    return { pool: 0, flags: TargetFlag.refuse | nodeOnly, affinitySeconds: 0, counter, identity: 0n };
  if (to === 'leave') return { pool: 0, flags: 0, affinitySeconds: 0, counter, identity: 0n };
  const { affinitySeconds } = port;
  const hasAffinity = affinitySeconds > 0;
  const affinity = hasAffinity ? TargetFlag.affinity : 0;
  const least = port.isLeastConnections ? TargetFlag.leastConnections : 0;
  const pool = pools.find(({ name }) => name === to);
  const all = pool && comparesAll(port, pool) ? TargetFlag.compareAll : 0;
  const flags = nodeOnly | affinity | least | all;
  const identity = hasAffinity ? poolIdentity(port.id, to) : 0n;
  return { pool: pool?.index ?? 0, flags, affinitySeconds, counter, identity };
}
