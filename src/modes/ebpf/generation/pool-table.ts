import type { BpfMap, MappedArray } from '../../../kernel/bpf/index.ts';
import { FAMILIES, type Family } from '../../../net/index.ts';
import { POOL_BYTES, type PoolValue, poolWord, SLOT_BYTES, writeSlot } from '../programs/index.ts';
import type { SocketEndpoint } from '../render.ts';
import { DIGIT } from './capacity.ts';
import { type GenerationMaps, mapNamed } from './maps.ts';

/** A pool that is in the maps. */
export interface PlacedPool {
  readonly index: number;
  readonly run: PoolValue;
  readonly endpoints: readonly SocketEndpoint[];
}

interface Slots {
  readonly map: BpfMap;
  readonly memory: MappedArray;
  next: number;
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

  constructor(maps: GenerationMaps) {
    this.#pools = mapNamed(maps, 'pools');
    this.#poolMemory = this.#pools.mapped();
    const slots = (family: Family): Slots => {
      const map = mapNamed(maps, `slots${DIGIT[family]}`);
      return { map, memory: map.mapped(), next: 0 };
    };
    this.#slots = { IPv4: slots('IPv4'), IPv6: slots('IPv6') };
  }

  /** Runs and numbers that are no longer used count too. */
  *usage(): Generator<{ readonly map: string; readonly used: number; readonly capacity: number }> {
    yield { map: 'pools', used: this.#nextPool, capacity: this.#pools.spec.entries };
    for (const family of FAMILIES) {
      const { map, next } = this.#slots[family];
      yield { map: map.spec.name, used: next, capacity: map.spec.entries };
    }
  }

  hasRoom(pools: number, slots: Readonly<Record<Family, number>>): boolean {
    const hasSlots = (family: Family) =>
      this.#slots[family].next + slots[family] <= this.#slots[family].map.spec.entries;
    return this.#nextPool + pools <= this.#pools.spec.entries && FAMILIES.every(hasSlots);
  }

  /** Writes a run behind the last one. No program finds it before `publish`. */
  place(family: Family, endpoints: readonly SocketEndpoint[], before: PlacedPool | undefined): PlacedPool {
    const slots = this.#slots[family];
    const run = { first: slots.next, count: endpoints.length };
    slots.memory.write(run.first, slotBytes(family, endpoints));
    slots.next += run.count;
    return { index: before?.index ?? this.#nextPool++, run, endpoints };
  }

  publish(pool: PlacedPool | undefined): void {
    if (pool) this.#poolMemory.store(pool.index, poolWord(pool.run));
  }

  /** How the kernel's maps differ from a pool that this process wrote, in words. */
  difference(family: Family, { index, run, endpoints }: PlacedPool): string | undefined {
    const found = this.#poolMemory.read(index, 1);
    if (found.length !== POOL_BYTES || found.readBigUInt64LE() !== poolWord(run)) {
      return 'another program changed map pools';
    }
    const { map, memory } = this.#slots[family];
    const isSame = memory.read(run.first, run.count).equals(slotBytes(family, endpoints));
    return isSame ? undefined : `another program changed map ${map.spec.name}`;
  }

  close(): void {
    this.#poolMemory.close();
    for (const family of FAMILIES) this.#slots[family].memory.close();
  }
}

function slotBytes(family: Family, endpoints: readonly SocketEndpoint[]): Buffer {
  const size = SLOT_BYTES[family];
  const bytes = Buffer.alloc(endpoints.length * size);
  for (const [i, endpoint] of endpoints.entries()) writeSlot(endpoint, bytes, i * size);
  return bytes;
}
