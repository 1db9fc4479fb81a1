import type { BpfMap, MappedArray } from '../../../kernel/bpf/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { FAMILIES, type Family } from '../../../net/index.ts';
import { POOL_BYTES, type PoolValue, poolWord, SLOT_BYTES, writePool, writeSlot } from '../programs/index.ts';
import type { PoolName, SocketEndpoint, SocketPool } from '../render.ts';
import { DIGIT, type Usage } from './capacity.ts';
import { type GenerationMaps, mapNamed } from './maps.ts';
import { RunCopier } from './run-copier.ts';

/** A pool that is in the maps. It keeps its number in later generations. */
export interface PlacedPool {
  readonly name: PoolName;
  readonly index: number;
  readonly endpoints: readonly SocketEndpoint[];
}

interface WithPools {
  readonly pools: readonly PlacedPool[];
}

/** How many service ports are copied before the time is looked at. */
const COPIED_AT_ONCE = 1024;
/** The part of all slots that may be taken when a new generation begins. */
const MAX_TAKEN = 0.5;

interface Slots {
  readonly map: BpfMap;
  readonly memory: MappedArray;
  /** What this process wrote to the map, or is about to write. Another program may have changed the map itself. */
  readonly bytes: Buffer;
  /** The first slot that no run has. */
  next: number;
  /** The first slot that is not written yet. */
  nextWritten: number;
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
      const bytes = Buffer.alloc(map.spec.entries * SLOT_BYTES[family]);
      return { map, memory: memoryOf(map), bytes, next: 0, nextWritten: 0 };
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
    const { bytes, next } = this.#slots[family];
    writeSlots(endpoints, bytes, next * SLOT_BYTES[family], SLOT_BYTES[family]);
    this.#giveRun(family, pool);
    (before ? this.#changed : this.#added).push(pool);
    return pool;
  }

  /** Writes the runs of all pools that were placed. No program finds them before they are published. */
  writeSlots(): void {
    for (const family of FAMILIES) {
      const slots = this.#slots[family];
      if (slots.nextWritten === slots.next) continue;
      slots.memory.write(slots.nextWritten, slotBytes(family, slots, slots.nextWritten, slots.next));
      slots.nextWritten = slots.next;
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

  /** Whether `copy` leaves enough room for changes. */
  canCopy(former: PoolTable): boolean {
    return FAMILIES.every(family => former.#slots[family].next <= this.#slots[family].map.spec.entries * MAX_TAKEN);
  }

  /** Copies all that another table has to maps that are empty. */
  copy(former: PoolTable): void {
    for (const family of FAMILIES) {
      const [from, to] = [former.#slots[family], this.#slots[family]];
      slotBytes(family, from, 0, from.next).copy(to.bytes);
      to.next = from.next;
    }
    former.#runBytes(0, former.#nextPool).copy(this.#runs);
    this.#publishCopies(former);
  }

  /**
   * Copies the pools of service ports to maps that are empty. Their runs come one behind another: what former runs took is
   * free here. The pools keep their numbers.
   */
  async compact(former: PoolTable, portsOf: (family: Family) => Iterable<WithPools>): Promise<void> {
    const breaks = new Breaks();
    let copied = 0;
    for (const family of FAMILIES) {
      const copier = new RunCopier(former.#slots[family].bytes, this.#slots[family].bytes, SLOT_BYTES[family]);
      for (const { pools } of portsOf(family)) {
        if (copied++ % COPIED_AT_ONCE === 0 && breaks.isDue) await breaks.take();
        for (const pool of pools) {
          copier.add(former.runOf(pool));
          this.#giveRun(family, pool);
        }
      }
      copier.flush();
    }
    if (breaks.isDue) await breaks.take();
    this.#publishCopies(former);
  }

  /** How the kernel's maps differ from pools that this process wrote, in words. */
  difference(family: Family, pool: PlacedPool): string | undefined {
    const { index } = pool;
    const { first, count } = this.runOf(pool);
    const slots = this.#slots[family];
    if (!this.#poolMemory.read(index, 1).equals(this.#runBytes(index, 1))) return 'another program changed map pools';
    const { map, memory } = slots;
    const isSame = memory.read(first, count).equals(slotBytes(family, slots, first, first + count));
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

  /** Nothing reads the maps yet, so the order does not matter. */
  #publishCopies(former: PoolTable): void {
    this.writeSlots();
    this.#nextPool = former.#nextPool;
    this.#poolMemory.write(0, this.#runBytes(0, this.#nextPool));
  }

  #runBytes(index: number, count: number): Buffer {
    return this.#runs.subarray(index * POOL_BYTES, (index + count) * POOL_BYTES);
  }
}

function slotBytes(family: Family, { bytes }: Slots, first: number, end: number): Buffer {
  return bytes.subarray(first * SLOT_BYTES[family], end * SLOT_BYTES[family]);
}

function writeSlots(endpoints: readonly SocketEndpoint[], into: Buffer, at: number, size: number): void {
  let next = at;
  for (const endpoint of endpoints) {
    writeSlot(endpoint, into, next);
    next += size;
  }
}
