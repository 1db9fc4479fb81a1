import type { Family } from '../../../net/index.ts';
import { diffPorts, type PortDiff } from '../diff.ts';
import { encodeMember } from '../programs/index.ts';
import type { PoolName, SocketPort } from '../render.ts';
import { type ByteText, byteText } from './hash-table.ts';
import type { PlacedPool } from './pool-table.ts';
import { frontendText, targetText } from './target-value.ts';

/** One service port that changed. */
export interface PortChange {
  readonly family: Family;
  readonly id: string;
  /** Undefined if sockets no longer serve it. */
  readonly to: SocketPort | undefined;
}

/** A service port with the numbers that it has in one generation. */
export interface PlacedPort {
  readonly family: Family;
  readonly port: SocketPort;
  readonly pools: ReadonlyMap<PoolName, PlacedPool>;
  /** The number of its element in `counts`. 0 if nothing counts. */
  readonly counter: number;
}

/** A change, with what there is before it. */
export interface Step extends PortChange {
  readonly from: PlacedPort | undefined;
  readonly diff: PortDiff;
}

export function stepOf(change: PortChange, from: PlacedPort | undefined): Step {
  return { ...change, from, diff: diffPorts(from?.port, change.to) };
}

/** The entries of `frontends` that a service port has. */
export function* frontendEntries({ family, port, pools, counter }: PlacedPort): Generator<[ByteText, ByteText]> {
  const poolIndex = (name: PoolName) => pools.get(name)?.index ?? 0;
  for (const target of port.targets) {
    yield [frontendText(family, target), targetText(port, target, { counter, poolIndex })];
  }
}

/** The keys of `members` that a service port has: its endpoints, if clients remember them. */
export function* memberKeys({ port, pools }: PlacedPort): Generator<ByteText> {
  if (port.affinitySeconds === 0) return;
  for (const { index, endpoints } of pools.values()) {
    for (const { ip, port: number } of endpoints) yield byteText(encodeMember({ pool: index, ip, port: number }));
  }
}
