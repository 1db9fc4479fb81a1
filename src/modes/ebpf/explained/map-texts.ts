import { type Ip, joinHostPort } from '../../../net/index.ts';
import { type FrontendKey, type PoolValue, TargetFlag, type TargetValue } from '../programs/index.ts';
import type { NodeAddressKind, SocketEndpoint } from '../render.ts';

// The elements of the maps in words that a person can read. Wanted and found elements have the same form.

/** `10.96.0.10:80`, or `node port 30080`. */
export function frontendName({ ip, port }: Pick<FrontendKey, 'ip' | 'port'>): string {
  return ip === undefined ? `node port ${port}` : joinHostPort(ip, port);
}

/** What a target asks for besides its endpoints: ` (affinity 10800 s, node only)`. */
function conditions(flags: number, affinitySeconds: number): string {
  const texts = [
    flags & TargetFlag.affinity ? `affinity ${affinitySeconds} s` : '',
    flags & TargetFlag.leastConnections ? leastConnections(flags) : '',
    flags & TargetFlag.nodeOnly ? 'node only' : '',
  ].filter(Boolean);
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

function leastConnections(flags: number): string {
  return flags & TargetFlag.compareAll ? 'least connections of all' : 'least connections of two';
}

/**
 * `10.96.0.10:80 : pool 17 (affinity 10800 s)`, `10.96.0.10:80 : refuse` or `10.96.0.10:80 : leave to the network`.
 * `nameOf` names a pool by its number.
 */
export function targetLine(key: Pick<FrontendKey, 'ip' | 'port'>, target: TargetValue, nameOf = poolName): string {
  const { pool, flags, affinitySeconds } = target;
  const toPool = pool === 0 ? 'leave to the network' : nameOf(pool);
  const to = flags & TargetFlag.refuse ? 'refuse' : toPool;
  return `${frontendName(key)} : ${to}${conditions(flags, affinitySeconds)}`;
}

export function poolName(index: number): string {
  return `pool ${index}`;
}

/** `pool 17 : slots 5120 to 5122` */
export function poolLine(index: number, run: PoolValue): string {
  return `${poolName(index)} : ${runName(run)}`;
}

export function runName({ first, count }: PoolValue): string {
  return count === 0 ? 'empty' : `slots ${first} to ${first + count - 1}`;
}

/** `slot 5120 : 10.244.1.2:8080` */
export function slotLine(index: number, endpoint: SocketEndpoint): string {
  return `slot ${index} : ${endpointName(endpoint)}`;
}

/** `pool 17 : 10.244.1.2:8080` */
export function memberLine(pool: number, endpoint: SocketEndpoint): string {
  return `${poolName(pool)} : ${endpointName(endpoint)}`;
}

/** `192.168.0.2 : any caller` */
export function nodeAddressLine(ip: Ip, kind: NodeAddressKind): string {
  return `${ip} : ${kind === 'loopback' ? 'node only' : 'any caller'}`;
}

export function endpointName({ ip, port }: SocketEndpoint): string {
  return joinHostPort(ip, port);
}
