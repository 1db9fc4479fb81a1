import { createHash } from 'node:crypto';
import type { Family } from '../../../net/index.ts';
import { encodeTarget, frontendKey, TargetFlag } from '../programs/index.ts';
import type { PoolName, SocketPort, SocketTarget } from '../render.ts';
import { type ByteText, byteText } from './hash-table.ts';

/**
 * Names a pool in what clients with session affinity remember. It is the same after a restart, when the numbers of pools
 * differ.
 */
export function poolIdentity(id: string, pool: PoolName): bigint {
  return createHash('sha256').update(`${id} ${pool}`).digest().readBigUInt64LE();
}

export function frontendText(family: Family, { ip, port }: Pick<SocketTarget, 'ip' | 'port'>): ByteText {
  return byteText(frontendKey({ family, ip, port }));
}

/** The numbers that a service port has in one generation. */
export interface PortNumbers {
  readonly counter: number;
  poolIndex(pool: PoolName): number;
}

export function targetText(port: SocketPort, target: SocketTarget, numbers: PortNumbers): ByteText {
  const { to, isNodeOnly } = target;
  const { counter } = numbers;
  const nodeOnly = isNodeOnly ? TargetFlag.nodeOnly : 0;
  if (to === 'refuse') {
    const flags = TargetFlag.refuse | nodeOnly;
    return byteText(encodeTarget({ pool: 0, flags, affinitySeconds: 0, counter, identity: 0n }));
  }
  const hasAffinity = port.affinitySeconds > 0;
  const affinity = hasAffinity ? TargetFlag.affinity : 0;
  const least = port.isLeastConnections ? TargetFlag.leastConnections : 0;
  const value = encodeTarget({
    pool: numbers.poolIndex(to),
    flags: nodeOnly | affinity | least,
    affinitySeconds: port.affinitySeconds,
    counter,
    identity: hasAffinity ? poolIdentity(port.id, to) : 0n,
  });
  return byteText(value);
}
