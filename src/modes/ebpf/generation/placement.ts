import type { Family } from '../../../net/index.ts';
import type { SocketPool, SocketPort } from '../render.ts';
import type { Capacity } from './capacity.ts';
import type { FamilyContents } from './contents.ts';
import type { FrontendChunk } from './frontend-chunk.ts';
import { newPools, newSlots, type PlacedPort, type Step, sumOf } from './placed-port.ts';
import type { PoolTable } from './pool-table.ts';

/** The part of all numbers that may be used when a new generation begins. */
const MAX_KEPT = 0.75;

/** Gives numbers to service ports: those of their pools, their runs of slots, and their counters. */
export class Placement {
  /** It changes when runs move to new maps. */
  pools: PoolTable;
  readonly #counts: boolean;
  readonly #maxCounters: number;
  /** Counter 0 stays unused. */
  #nextCounter = 1;

  /** `maxCounters`: undefined if nothing counts. */
  constructor(pools: PoolTable, maxCounters: number | undefined) {
    this.pools = pools;
    this.#counts = maxCounters !== undefined;
    this.#maxCounters = maxCounters ?? Number.POSITIVE_INFINITY;
  }

  /** The counter that the next service port gets. */
  get nextCounter(): number {
    return this.#nextCounter;
  }

  /** Whether there are numbers for some service ports. `no-slots`: former runs took the slots. */
  roomFor(family: Family, added: readonly Step[]): 'enough' | 'no-slots' | 'full' {
    const hasNumbers =
      this.#nextCounter + sumOf(added, ({ from }) => (from ? 0 : 1)) <= this.#maxCounters &&
      this.pools.hasNumbers(sumOf(added, newPools));
    if (!hasNumbers) return 'full';
    return this.pools.hasSlots(family, sumOf(added, newSlots)) ? 'enough' : 'no-slots';
  }

  /**
   * Whether the service ports that a new generation keeps can keep their numbers. Numbers of service ports that are gone
   * are given again only if all are given anew.
   */
  hasNumbersFor(contents: readonly FamilyContents[], { pools, counts }: Capacity): boolean {
    const added = contents.flatMap(each => each.added);
    const usedPools = this.pools.nextNumber + sumOf(added, port => port.pools.length);
    return usedPools <= pools * MAX_KEPT && this.#nextCounter + added.length <= counts * MAX_KEPT;
  }

  /** Service ports of a former generation keep their numbers here, where nothing was placed yet. */
  async keep(former: Placement, kept: (family: Family) => readonly PlacedPort[]): Promise<void> {
    this.#nextCounter = former.#nextCounter;
    if (this.pools.canCopy(former.pools)) this.pools.copy(former.pools);
    else await this.pools.compact(former.pools, kept);
  }

  placeNew(family: Family, port: SocketPort, chunk: FrontendChunk): PlacedPort {
    const pools = port.pools.map(pool => this.pools.place(family, pool, undefined));
    return { family, port, pools, counter: this.#counts ? this.#nextCounter++ : 0, chunk };
  }

  /** Gives numbers to what the former version has not. Pools whose endpoints are the same keep their run. */
  placeChanged(port: SocketPort, from: PlacedPort, { diff }: Step): PlacedPort {
    const kept = from.pools.filter(({ name }) => diff.keptPools.includes(name));
    const before = (pool: SocketPool) => from.pools.find(({ name }) => name === pool.name);
    const placed = diff.changedPools.map(pool => this.pools.place(from.family, pool, before(pool)));
    return { ...from, port, pools: [...kept, ...placed] };
  }
}
