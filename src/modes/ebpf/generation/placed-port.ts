import { sameList } from '../../../lib/same-list.ts';
import type { Family } from '../../../net/index.ts';
import { diffPorts, type PortDiff } from '../diff.ts';
import { comparesAll, type SocketPort, type SocketTarget } from '../render.ts';
import type { FrontendChunk } from './frontend-chunk.ts';
import type { PlacedPool } from './pool-table.ts';

/** One service port that changed. */
export interface PortChange {
  readonly id: string;
  /** Undefined if sockets no longer serve it. */
  readonly to: SocketPort | undefined;
}

/** A service port with the numbers that it has in one generation. */
export interface PlacedPort {
  readonly family: Family;
  readonly port: SocketPort;
  readonly pools: readonly PlacedPool[];
  /** The number of its element in `counts`. 0 if nothing counts. */
  readonly counter: number;
  readonly chunk: FrontendChunk;
}

/** Whether the entries in `frontends` are the same. They are if only endpoints came or went. */
export function hasSameFrontends(from: PlacedPort | undefined, to: PlacedPort): boolean {
  return (
    from !== undefined &&
    from.counter === to.counter &&
    from.port.affinitySeconds === to.port.affinitySeconds &&
    from.port.isLeastConnections === to.port.isLeastConnections &&
    sameList(from.port.targets, to.port.targets, sameTarget) &&
    to.pools.every(pool => from.pools.some(former => hasSameTargets(from, former, to, pool)))
  );
}

/** Whether targets name the pool as they named the former one. */
function hasSameTargets(from: PlacedPort, former: PlacedPool, to: PlacedPort, pool: PlacedPool): boolean {
  return (
    former.name === pool.name &&
    former.index === pool.index &&
    comparesAll(from.port, former) === comparesAll(to.port, pool)
  );
}

function sameTarget(a: SocketTarget, b: SocketTarget): boolean {
  return a.ip === b.ip && a.port === b.port && a.to === b.to && a.isNodeOnly === b.isNodeOnly;
}

/** A change, with what there is before it. */
export interface Step {
  readonly change: PortChange;
  readonly from: PlacedPort | undefined;
  readonly diff: PortDiff;
}

export function stepOf(change: PortChange, from: PlacedPort | undefined): Step {
  return { change, from, diff: diffPorts(from?.port, change.to) };
}

/** How many targets the former version of the service port has not. Those that go are removed later. */
export function newTargets({ change: { to }, from, diff }: Step): number {
  return to ? to.targets.length - (from?.port.targets.length ?? 0) + diff.removedTargets.length : 0;
}

/** How many pools get a number. */
export function newPools({ from, diff }: Step): number {
  return diff.changedPools.filter(({ name }) => !from?.pools.some(pool => pool.name === name)).length;
}

/** How many slots the new runs take. */
export function newSlots({ diff }: Step): number {
  return sumOf(diff.changedPools, ({ endpoints }) => endpoints.length);
}

/** At most so many members are added. */
export function newMembers({ change: { to } }: Step): number {
  return to && to.affinitySeconds > 0 ? sumOf(to.pools, ({ endpoints }) => endpoints.length) : 0;
}

export function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += numberOf(item);
  return sum;
}
