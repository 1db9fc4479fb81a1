import { Breaks } from '../../../lib/breaks.ts';
import { FAMILIES, type Family, type Ip } from '../../../net/index.ts';
import { encodeNodeAddress, MEMBER_VALUE, nodeAddressKey } from '../programs/index.ts';
import type { NodeAddressKind, PoolName, SocketPort } from '../render.ts';
import { ActiveEndpoints } from './active-endpoints.ts';
import type { Capacity } from './capacity.ts';
import { type ByteText, byteText, HashTable } from './hash-table.ts';
import { closeMaps, createMaps, type Features, type GenerationMaps, mapNamed, type StateMaps } from './maps.ts';
import { frontendEntries, memberKeys, type PlacedPort, type PortChange, type Step, stepOf } from './placed-port.ts';
import { type PlacedPool, PoolTable } from './pool-table.ts';
import { frontendText } from './target-value.ts';

type ByFamily<T> = Readonly<Record<Family, T>>;

/** How many service ports are published together. */
const CHUNK = 1024;

const MEMBER_TEXT = byteText(MEMBER_VALUE);

/** Used and possible entries of a map. */
export interface Usage {
  readonly map: string;
  readonly used: number;
  readonly capacity: number;
}

/**
 * The maps of one generation and what is in them. Programs refer to the maps, so everything that needs other maps (more
 * room, another part) makes a new generation.
 */
export class Generation {
  readonly features: Features;
  readonly maps: GenerationMaps;
  readonly #ports: ByFamily<Map<string, PlacedPort>> = { IPv4: new Map(), IPv6: new Map() };
  readonly #pools: PoolTable;
  readonly #frontends: ByFamily<HashTable>;
  readonly #nodeAddresses: ByFamily<HashTable>;
  readonly #members: ByFamily<HashTable> | undefined;
  readonly #active: ActiveEndpoints;
  readonly #maxCounters: number;
  /** Counter 0 stays unused. */
  #nextCounter = 1;

  constructor(capacity: Capacity, features: Features, state: StateMaps) {
    this.features = features;
    this.maps = createMaps(capacity, features);
    const tables = (name: 'frontends' | 'nodeAddresses' | 'members') => ({
      IPv4: new HashTable(mapNamed(this.maps, `${name}4`)),
      IPv6: new HashTable(mapNamed(this.maps, `${name}6`)),
    });
    this.#pools = new PoolTable(this.maps);
    this.#frontends = tables('frontends');
    this.#nodeAddresses = tables('nodeAddresses');
    this.#members = features.affinity ? tables('members') : undefined;
    this.#active = new ActiveEndpoints(state);
    this.#maxCounters = features.counts ? capacity.counts : Number.POSITIVE_INFINITY;
  }

  /** The service ports of a family, by plan id. */
  ports(family: Family): ReadonlyMap<string, PlacedPort> {
    return this.#ports[family];
  }

  *usage(): Generator<Usage> {
    for (const tables of [this.#frontends, this.#nodeAddresses, this.#members]) {
      if (tables) for (const family of FAMILIES) yield tables[family].usage;
    }
    yield* this.#pools.usage();
  }

  /** Writes what changed. `full`: it has not enough room, or lacks a part. Then it has written nothing. */
  async write(changes: readonly PortChange[]): Promise<'written' | 'full'> {
    const breaks = new Breaks();
    const steps = changes.map(change => stepOf(change, this.#ports[change.family].get(change.id)));
    if (!this.#fits(steps)) return 'full';
    const written = new Set<ByteText>();
    for (let at = 0; at < steps.length; at += CHUNK) {
      for (const key of await this.#add(steps.slice(at, at + CHUNK), breaks)) written.add(key);
      if (breaks.isDue) await breaks.take();
    }
    // What one service port lost, another may have got.
    for (const step of steps) this.#remove(step, written);
    return 'written';
  }

  /** Returns `full` if there are too many addresses. */
  setNodeAddresses(family: Family, addresses: ReadonlyMap<Ip, NodeAddressKind>): 'written' | 'full' {
    const table = this.#nodeAddresses[family];
    const entries = new Map<ByteText, ByteText>();
    for (const [ip, kind] of addresses) {
      entries.set(byteText(nodeAddressKey(ip)), byteText(encodeNodeAddress(kind)));
    }
    if (!table.hasRoom(entries.size)) return 'full';
    table.set(entries);
    table.remove(table.keys().filter(key => !entries.has(key)));
    return 'written';
  }

  /** How the kernel's maps differ from what this process wrote for a family, in words. Undefined if they do not. */
  async difference(family: Family): Promise<string | undefined> {
    const breaks = new Breaks();
    for (const { pools } of this.#ports[family].values()) {
      if (breaks.isDue) await breaks.take();
      for (const pool of pools.values()) {
        const difference = this.#pools.difference(family, pool);
        if (difference !== undefined) return difference;
      }
    }
    for (const tables of [this.#frontends, this.#nodeAddresses, this.#members]) {
      const difference = await tables?.[family].difference(breaks);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }

  /** The kernel keeps the maps until no program uses them any more. */
  close(): void {
    this.#pools.close();
    closeMaps(this.maps);
  }

  #fits(steps: readonly Step[]): boolean {
    const { affinity, leastConnections } = this.features;
    let [pools, counters] = [0, 0];
    const [slots, frontends, members] = [zero(), zero(), zero()];
    for (const { family, from, to, diff } of steps) {
      if (!to) continue;
      if ((to.affinitySeconds > 0 && !affinity) || (to.isLeastConnections && !leastConnections)) return false;
      if (!from) counters++;
      // Targets that go are removed last.
      frontends[family] += to.targets.length - (from?.port.targets.length ?? 0) + diff.removedTargets.length;
      for (const [name, endpoints] of diff.changedPools) {
        if (!from?.pools.has(name)) pools++;
        slots[family] += endpoints.length;
        if (to.affinitySeconds > 0) members[family] += endpoints.length;
      }
    }
    return (
      this.#nextCounter + counters <= this.#maxCounters &&
      this.#pools.hasRoom(pools, slots) &&
      FAMILIES.every(family => this.#frontends[family].hasRoom(frontends[family])) &&
      FAMILIES.every(family => this.#members?.[family].hasRoom(members[family]) ?? true)
    );
  }

  /**
   * Runs of slots come first, then members, then pools, then frontends: nothing leads to what is not there yet. Returns
   * the keys of the frontends.
   */
  async #add(steps: readonly Step[], breaks: Breaks): Promise<readonly ByteText[]> {
    const added: { readonly placed: PlacedPort; readonly changedPools: Iterable<PoolName> }[] = [];
    for (const step of steps) {
      if (breaks.isDue) await breaks.take();
      if (step.to) added.push({ placed: this.#place(step, step.to), changedPools: step.diff.changedPools.keys() });
    }
    const [members, frontends] = [entryLists(), entryLists()];
    for (const { placed } of added) {
      for (const key of memberKeys(placed)) members[placed.family].push([key, MEMBER_TEXT]);
      frontends[placed.family].push(...frontendEntries(placed));
      if (placed.port.isLeastConnections) this.#active.add(placed);
    }
    for (const family of FAMILIES) this.#members?.[family].set(members[family]);
    for (const { placed, changedPools } of added) {
      for (const name of changedPools) this.#pools.publish(placed.pools.get(name));
      this.#ports[placed.family].set(placed.port.id, placed);
    }
    for (const family of FAMILIES) this.#frontends[family].set(frontends[family]);
    return FAMILIES.flatMap(family => frontends[family].map(([key]) => key));
  }

  #place({ family, from, diff }: Step, port: SocketPort): PlacedPort {
    const pools = new Map<PoolName, PlacedPool>();
    for (const name of diff.keptPools) {
      const kept = from?.pools.get(name);
      if (kept) pools.set(name, kept);
    }
    for (const [name, endpoints] of diff.changedPools) {
      pools.set(name, this.#pools.place(family, endpoints, from?.pools.get(name)));
    }
    const counter = from?.counter ?? (this.features.counts ? this.#nextCounter++ : 0);
    return { family, port, pools, counter };
  }

  #remove({ family, id, from, to, diff }: Step, written: ReadonlySet<ByteText>): void {
    const keys = diff.removedTargets.map(target => frontendText(family, target)).filter(key => !written.has(key));
    this.#frontends[family].remove(keys);
    if (!to) this.#ports[family].delete(id);
    if (!from || from.port.affinitySeconds === 0) return;
    const now = this.#ports[family].get(id);
    const members = new Set(now && memberKeys(now));
    this.#members?.[family].remove([...memberKeys(from)].filter(key => !members.has(key)));
  }
}

function zero(): Record<Family, number> {
  return { IPv4: 0, IPv6: 0 };
}

function entryLists(): ByFamily<[ByteText, ByteText][]> {
  return { IPv4: [], IPv6: [] };
}
