import type { BpfMap, MappedArray } from '../../../kernel/bpf/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { FAMILIES, type Family } from '../../../net/index.ts';
import { POOL_BYTES, type PoolValue, poolWord, SLOT_BYTES, writePool, writeSlot } from '../programs/index.ts';
import type { PoolName, SocketEndpoint, SocketPool } from '../render.ts';
import { DIGIT, type Usage } from './capacity.ts';
import { type GenerationMaps, mapNamed } from './maps.ts';
import { sumOf } from './placed-port.ts';

/** A pool that is in the maps. It keeps its number in later generations. */
export interface PlacedPool {
  readonly name: PoolName;
  readonly index: number;
  readonly endpoints: readonly SocketEndpoint[];
}

/** How many runs are copied before the time is looked at. */
const COPIED_AT_ONCE = 1024;

interface Slots {
  readonly map: BpfMap;
  readonly memory: MappedArray;
  next: number;
  /** Pools whose runs follow one another and are not written yet. */
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
  /** What this process wrote to `pools`, or is about to write: the run of each pool. */
  readonly #runs: Buffer;
  /** Pool 0 stays empty. Targets that refuse name it. */
  #nextPool = 1;
  /** Pools with new numbers that follow one another. */
  #added: PlacedPool[] = [];
  /** Pools that programs already find. */
  #changed: PlacedPool[] = [];

  constructor(maps: GenerationMaps) {
    this.#pools = mapNamed(maps, 'pools');
    this.#runs = Buffer.alloc(this.#pools.spec.entries * POOL_BYTES);
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

  /** The number that the next pool gets. Pools of earlier numbers may be gone. */
  get nextNumber(): number {
    return this.#nextPool;
  }

  hasNumbers(added: number): boolean {
    return this.#nextPool + added <= this.#pools.spec.entries;
  }

  hasSlots(family: Family, added: number): boolean {
    const { map, next } = this.#slots[family];
    return next + added <= map.spec.entries;
  }

  /** The slots that a pool has. */
  runOf({ index, endpoints }: PlacedPool): PoolValue {
    return { first: this.#runs.readUInt32LE(index * POOL_BYTES), count: endpoints.length };
  }

  /** Gives a pool a run behind the last one, and a number if it has none. */
  place(family: Family, { name, endpoints }: SocketPool, before: PlacedPool | undefined): PlacedPool {
    const pool = { name, index: before?.index ?? this.#nextPool++, endpoints };
    this.#giveRun(family, pool);
    this.#slots[family].placed.push(pool);
    (before ? this.#changed : this.#added).push(pool);
    return pool;
  }

  /** The pools of another table keep their numbers here, where nothing was placed yet. `publishAll` ends this. */
  keepNumbers(former: PoolTable): void {
    this.#nextPool = former.#nextPool;
  }

  /** Gives runs to the pools of service ports. The pools keep their numbers. */
  placeKept(family: Family, ports: readonly { readonly pools: readonly PlacedPool[] }[]): void {
    const { placed } = this.#slots[family];
    for (const { pools } of ports) {
      for (const pool of pools) {
        this.#giveRun(family, pool);
        placed.push(pool);
      }
    }
  }

  /** Writes the runs of all pools that were placed. No program finds them before they are published. */
  writeSlots(): void {
    for (const family of FAMILIES) {
      const slots = this.#slots[family];
      const [first] = slots.placed;
      if (!first) continue;
      slots.memory.write(this.runOf(first).first, slotBytes(family, slots.placed));
      slots.placed = [];
    }
  }

  /** Leads the pools that were placed to their runs. A program finds the old run or the new one. */
  publish(): void {
    for (const pool of this.#changed) this.#poolMemory.store(pool.index, poolWord(this.runOf(pool)));
    const [first] = this.#added;
    // No target names these numbers yet, so nothing reads them while they are written.
    if (first) this.#poolMemory.write(first.index, this.#runBytes(first.index, this.#added.length));
    this.#added = [];
    this.#changed = [];
  }

  /** As `publish`, for maps that no program uses yet. */
  publishAll(): void {
    this.#poolMemory.write(0, this.#runBytes(0, this.#nextPool));
    this.#added = [];
  }

  /**
   * Copies the runs of the pools of another table to maps that are empty, one behind another: what former runs took is
   * free here. The pools keep their numbers.
   */
  async copyRuns(former: PoolTable, pools: Readonly<Record<Family, readonly PlacedPool[]>>): Promise<void> {
    const breaks = new Breaks();
    this.keepNumbers(former);
    for (const family of FAMILIES) {
      const size = SLOT_BYTES[family];
      const [from, to] = [former.#slots[family], this.#slots[family]];
      const old = from.memory.read(0, from.next);
      const bytes = Buffer.alloc(sumOf(pools[family], ({ endpoints }) => endpoints.length) * size);
      for (const [i, pool] of pools[family].entries()) {
        if (i % COPIED_AT_ONCE === 0 && breaks.isDue) await breaks.take();
        const { first, count } = former.runOf(pool);
        old.copy(bytes, to.next * size, first * size, (first + count) * size);
        this.#giveRun(family, pool);
      }
      to.memory.write(0, bytes);
    }
    this.publishAll();
  }

  /** How the kernel's maps differ from pools that this process wrote, in words. */
  difference(family: Family, pool: PlacedPool): string | undefined {
    const { index, endpoints } = pool;
    if (!this.#poolMemory.read(index, 1).equals(this.#runBytes(index, 1))) return 'another program changed map pools';
    const { map, memory } = this.#slots[family];
    const isSame = memory.read(this.runOf(pool).first, endpoints.length).equals(slotBytes(family, [pool]));
    return isSame ? undefined : `another program changed map ${map.spec.name}`;
  }

  close(): void {
    this.#poolMemory.close();
    for (const family of FAMILIES) this.#slots[family].memory.close();
  }

  #giveRun(family: Family, pool: PlacedPool): void {
    const slots = this.#slots[family];
    writePool({ first: slots.next, count: pool.endpoints.length }, this.#runs, pool.index * POOL_BYTES);
    slots.next += pool.endpoints.length;
  }

  #runBytes(index: number, count: number): Buffer {
    return this.#runs.subarray(index * POOL_BYTES, (index + count) * POOL_BYTES);
  }
}

function slotBytes(family: Family, pools: readonly PlacedPool[]): Buffer {
  const size = SLOT_BYTES[family];
  let count = 0;
  for (const { endpoints } of pools) count += endpoints.length;
  const bytes = Buffer.alloc(count * size);
  let at = 0;
  for (const { endpoints } of pools) {
    for (const endpoint of endpoints) {
      writeSlot(endpoint, bytes, at);
      at += size;
    }
  }
  return bytes;
}
