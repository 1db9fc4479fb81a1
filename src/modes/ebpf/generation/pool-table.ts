import type { BpfMap, MappedArray } from '../../../kernel/bpf/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { FAMILIES, type Family } from '../../../net/index.ts';
import { POOL_BYTES, type PoolValue, poolWord, SLOT_BYTES, writePool, writeSlot } from '../programs/index.ts';
import type { PoolName, SocketEndpoint, SocketPool } from '../render.ts';
import { DIGIT, type Usage } from './capacity.ts';
import { type GenerationMaps, mapNamed } from './maps.ts';
import { sumOf } from './placed-port.ts';

/** A pool that is in the maps. */
export interface PlacedPool {
  readonly name: PoolName;
  readonly index: number;
  /** The first slot of its run. It changes when runs move to new maps. */
  first: number;
  readonly endpoints: readonly SocketEndpoint[];
}

export type PoolsByFamily = Readonly<Record<Family, readonly PlacedPool[]>>;

/** How many runs are written before the time is looked at. */
const ADOPTED_AT_ONCE = 1024;

interface Slots {
  readonly map: BpfMap;
  readonly memory: MappedArray;
  next: number;
  /** Runs that follow one another and are not written yet. */
  placed: PlacedPool[];
}

/**
 * The pools and the slots of one generation. A run of slots and the number of a pool are never used again, so a program
 * that holds an old one finds what was there.
 */
export class PoolTable {
  readonly #pools: BpfMap;
  readonly #poolMemory: MappedArray;
  readonly #slots: Readonly<Record<Family, Slots>>;
  /** Pool 0 stays empty. Targets that refuse name it. */
  #nextPool = 1;
  /** Pools with new numbers that follow one another. */
  #added: PlacedPool[] = [];
  /** Pools that programs already find. */
  #changed: PlacedPool[] = [];

  constructor(maps: GenerationMaps) {
    this.#pools = mapNamed(maps, 'pools');
    const opened: MappedArray[] = [];
    const memoryOf = (map: BpfMap) => {
      const memory = map.mapped();
      opened.push(memory);
      return memory;
    };
    const slots = (family: Family): Slots => {
      const map = mapNamed(maps, `slots${DIGIT[family]}`);
      return { map, memory: memoryOf(map), next: 0, placed: [] };
    };
    try {
      this.#poolMemory = memoryOf(this.#pools);
      this.#slots = { IPv4: slots('IPv4'), IPv6: slots('IPv6') };
    } catch (error) {
      for (const memory of opened) memory.close();
      throw error;
    }
  }

  /** Runs and numbers that are no longer used count too. */
  *usage(): Generator<Usage> {
    yield { map: 'pools', used: this.#nextPool, capacity: this.#pools.spec.entries };
    for (const family of FAMILIES) {
      const { map, next } = this.#slots[family];
      yield { map: map.spec.name, used: next, capacity: map.spec.entries };
    }
  }

  /** How many numbers were given away. */
  get usedNumbers(): number {
    return this.#nextPool;
  }

  hasNumbers(added: number): boolean {
    return this.#nextPool + added <= this.#pools.spec.entries;
  }

  hasSlots(family: Family, added: number): boolean {
    const { map, next } = this.#slots[family];
    return next + added <= map.spec.entries;
  }

  /** Gives a pool a run behind the last one, and a number if it has none. */
  place(family: Family, { name, endpoints }: SocketPool, before: PlacedPool | undefined): PlacedPool {
    const slots = this.#slots[family];
    const pool = { name, index: before?.index ?? this.#nextPool++, first: slots.next, endpoints };
    slots.next += endpoints.length;
    slots.placed.push(pool);
    (before ? this.#changed : this.#added).push(pool);
    return pool;
  }

  /** Writes the runs of all pools that were placed. No program finds them before `publish`. */
  writeSlots(): void {
    for (const family of FAMILIES) {
      const slots = this.#slots[family];
      const [first] = slots.placed;
      if (!first) continue;
      slots.memory.write(first.first, slotBytes(family, slots.placed));
      slots.placed = [];
    }
  }

  /** Leads the pools that were placed to their runs. A program finds the old run or the new one. */
  publish(): void {
    for (const pool of this.#changed) this.#poolMemory.store(pool.index, poolWord(runOf(pool)));
    const [first] = this.#added;
    // No target names these numbers yet, so nothing reads them while they are written.
    if (first) this.#poolMemory.write(first.index, poolBytes(this.#added));
    this.#added = [];
    this.#changed = [];
  }

  /**
   * Takes pools from another table into maps that are empty. They keep their numbers, and get runs one behind another:
   * what other runs took in the former maps is free here. `runs`: the slots are copied from the former maps, or encoded
   * because another program may have changed those. Returns a function that tells the pools their new runs.
   */
  async adopt(former: PoolTable, pools: PoolsByFamily, runs: 'copied' | 'encoded'): Promise<() => void> {
    this.#nextPool = former.#nextPool;
    const words = Buffer.alloc(this.#nextPool * POOL_BYTES);
    const firsts = { IPv4: new Uint32Array(pools.IPv4.length), IPv6: new Uint32Array(pools.IPv6.length) };
    for (const family of FAMILIES) {
      const from = runs === 'copied' ? former.#slots[family] : undefined;
      await this.#adoptRuns(family, pools[family], from, { words, firsts: firsts[family] });
    }
    this.#poolMemory.write(0, words);
    return () => {
      for (const family of FAMILIES) {
        for (const [i, pool] of pools[family].entries()) pool.first = firsts[family][i] ?? 0;
      }
    };
  }

  async #adoptRuns(
    family: Family,
    pools: readonly PlacedPool[],
    from: Slots | undefined,
    { words, firsts }: { readonly words: Buffer; readonly firsts: Uint32Array },
  ): Promise<void> {
    const breaks = new Breaks();
    const size = SLOT_BYTES[family];
    const old = from?.memory.read(0, from.next);
    const bytes = Buffer.alloc(sumOf(pools, ({ endpoints }) => endpoints.length) * size);
    let next = 0;
    for (const [i, { index, first, endpoints }] of pools.entries()) {
      if (i % ADOPTED_AT_ONCE === 0 && breaks.isDue) await breaks.take();
      if (old) old.copy(bytes, next * size, first * size, (first + endpoints.length) * size);
      else writeSlots(endpoints, bytes, next * size, size);
      writePool({ first: next, count: endpoints.length }, words, index * POOL_BYTES);
      firsts[i] = next;
      next += endpoints.length;
    }
    this.#slots[family].memory.write(0, bytes);
    this.#slots[family].next = next;
  }

  /** How the kernel's maps differ from pools that this process wrote, in words. */
  difference(family: Family, pool: PlacedPool): string | undefined {
    const { index, first, endpoints } = pool;
    if (!this.#poolMemory.read(index, 1).equals(poolBytes([pool]))) return 'another program changed map pools';
    const { map, memory } = this.#slots[family];
    const isSame = memory.read(first, endpoints.length).equals(slotBytes(family, [pool]));
    return isSame ? undefined : `another program changed map ${map.spec.name}`;
  }

  close(): void {
    this.#poolMemory.close();
    for (const family of FAMILIES) this.#slots[family].memory.close();
  }
}

/** The slots that a pool has. */
export function runOf({ first, endpoints }: PlacedPool): PoolValue {
  return { first, count: endpoints.length };
}

function poolBytes(pools: readonly PlacedPool[]): Buffer {
  const bytes = Buffer.allocUnsafe(pools.length * POOL_BYTES);
  let at = 0;
  for (const pool of pools) {
    writePool(runOf(pool), bytes, at);
    at += POOL_BYTES;
  }
  return bytes;
}

function slotBytes(family: Family, pools: readonly PlacedPool[]): Buffer {
  const size = SLOT_BYTES[family];
  const count = pools.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  const bytes = Buffer.alloc(count * size);
  let at = 0;
  for (const { endpoints } of pools) at = writeSlots(endpoints, bytes, at, size);
  return bytes;
}

/** Returns where the slots end. */
function writeSlots(endpoints: readonly SocketEndpoint[], into: Buffer, at: number, size: number): number {
  let end = at;
  for (const endpoint of endpoints) {
    writeSlot(endpoint, into, end);
    end += size;
  }
  return end;
}
