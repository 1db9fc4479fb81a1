import { Breaks } from '../../../lib/breaks.ts';
import { FAMILIES, type Family, type Ip } from '../../../net/index.ts';
import type { PoolValue } from '../programs/index.ts';
import type { NodeAddressKind, SocketPort } from '../render.ts';
import { ActiveEndpoints } from './active-endpoints.ts';
import { type Capacity, slotCapacity, type Usage } from './capacity.ts';
import { type FamilyContents, keptPorts } from './contents.ts';
import { FamilyTables } from './family-tables.ts';
import { type Features, hasPartsFor, neededParts, needsPart } from './features.ts';
import { CHUNK_SIZE } from './frontend-chunk.ts';
import { renewLease } from './lease.ts';
import { parts } from './map-difference.ts';
import { closeMaps, createMaps, createRunMaps, type GenerationMaps, mapNamed, type StateMaps } from './maps.ts';
import type { Need } from './need.ts';
import {
  hasSameFrontends,
  newTargets,
  type PlacedPort,
  type PortChange,
  type Step,
  stepOf,
  sumOf,
} from './placed-port.ts';
import { Placement } from './placement.ts';
import { type PlacedPool, PoolTable } from './pool-table.ts';

/**
 * What came of a write. `no-slots`: former runs took the slots. `full`: maps have not enough room, or a part is missing.
 */
export type Written = 'written' | 'no-slots' | 'full';

/**
 * The maps of one generation and what is in them. Programs refer to the maps, so everything that needs other maps (more
 * room, another part) makes a new generation.
 */
export class Generation {
  readonly features: Features;
  #maps: GenerationMaps;
  readonly #tables: Readonly<Record<Family, FamilyTables>>;
  readonly #placement: Placement;
  readonly #active: ActiveEndpoints;
  /** Takes over from the generation that this one was filled from. */
  #takeFormer: (() => void) | undefined;

  constructor(capacity: Capacity, features: Features, state: StateMaps) {
    this.features = features;
    this.#maps = createMaps(capacity, features);
    try {
      this.#placement = new Placement(new PoolTable(this.maps), features.counts ? capacity.counts : undefined);
    } catch (error) {
      closeMaps(this.#maps);
      throw error;
    }
    const tables = (family: Family) => new FamilyTables(family, this.#maps, features.affinity);
    this.#tables = { IPv4: tables('IPv4'), IPv6: tables('IPv6') };
    this.#active = new ActiveEndpoints(state);
  }

  get maps(): GenerationMaps {
    return this.#maps;
  }

  /** Lets the programs serve on. Without this they soon leave all connections to the network. */
  renewLease(): void {
    renewLease(mapNamed(this.maps, 'lease'));
  }

  /** The service ports of a family, by plan id. */
  ports(family: Family): ReadonlyMap<string, PlacedPort> {
    return this.#tables[family].ports;
  }

  /** What the service ports of a family need. */
  need(family: Family): Need {
    return this.#tables[family].need;
  }

  /** The slots that a pool has. */
  runOf(pool: PlacedPool): PoolValue {
    return this.#placement.pools.runOf(pool);
  }

  /** What programs counted, by counter. Undefined if they do not count. */
  connectionSums(): readonly number[] | undefined {
    return this.maps.get('counts')?.sums(this.#placement.nextCounter);
  }

  *usage(): Generator<Usage> {
    for (const family of FAMILIES) yield* this.#tables[family].usage();
    yield* this.#placement.pools.usage();
  }

  /** A part that no service port needs any more. */
  get hasUnusedParts(): boolean {
    const needed = neededParts(FAMILIES.map(family => this.need(family)));
    return needed.affinity !== this.features.affinity || needed.leastConnections !== this.features.leastConnections;
  }

  /** Endpoints that no service port has, and that no connection has any more, are no longer counted. */
  forgetIdleEndpoints(): void {
    if (this.features.leastConnections) this.#active.sweep(this.#allPorts());
  }

  /** Whether the service ports that a new generation keeps can keep their numbers. */
  hasNumbersFor(contents: readonly FamilyContents[], capacity: Capacity): boolean {
    return this.#placement.hasNumbersFor(contents, capacity);
  }

  /** Fills maps that are empty and were made for these contents. With `former`, its other service ports are kept. */
  async fill(contents: readonly FamilyContents[], former?: Generation): Promise<void> {
    for (const { family, need, nodeAddresses } of contents) {
      this.#tables[family].expect(need);
      this.setNodeAddresses(family, nodeAddresses);
    }
    if (former) await this.#keep(former, contents);
    for (const { family, added } of contents) await this.#add(family, added);
  }

  /** This generation serves from now on, and the one that it was filled from does not. */
  takeOver(): void {
    this.#takeFormer?.();
    this.#takeFormer = undefined;
  }

  /** Writes everything that changed, or nothing. */
  async write(family: Family, changes: readonly PortChange[]): Promise<Written> {
    const breaks = new Breaks();
    const { ports } = this.#tables[family];
    const steps: Step[] = [];
    for (const change of changes) {
      if (steps.length % CHUNK_SIZE === 0 && breaks.isDue) await breaks.take();
      steps.push(stepOf(change, ports.get(change.id)));
    }
    const room = this.#roomFor(family, steps);
    if (room !== 'enough') return room;
    for (let at = 0; at < steps.length; at += CHUNK_SIZE) {
      if (breaks.isDue) await breaks.take();
      const chunk = steps.slice(at, at + CHUNK_SIZE);
      const placed = chunk.flatMap(step => (step.change.to ? [this.#place(family, step.change.to, step)] : []));
      const moved = placed.filter(port => !hasSameFrontends(ports.get(port.port.id), port));
      this.#publishRuns(family, placed);
      this.#tables[family].set(placed, moved, sumOf(chunk, newTargets));
    }
    this.#tables[family].remove(steps);
    return 'written';
  }

  /**
   * Moves all runs to new maps, where former runs take no slots. `attach` makes programs use these maps. Programs that ran
   * until then use the old ones.
   */
  async renewSlots(attach: (maps: GenerationMaps) => void): Promise<void> {
    const breaks = new Breaks();
    const runMaps = createRunMaps({
      pools: mapNamed(this.#maps, 'pools').spec.entries,
      slots4: slotCapacity(this.need('IPv4').slots),
      slots6: slotCapacity(this.need('IPv6').slots),
    });
    try {
      const table = new PoolTable(runMaps);
      try {
        if (breaks.isDue) await breaks.take();
        await table.compact(this.#placement.pools, family => this.ports(family).values());
        await breaks.take();
        attach(new Map([...this.#maps, ...runMaps]));
      } catch (error) {
        table.close();
        throw error;
      }
      this.#placement.pools.close();
      for (const name of runMaps.keys()) this.#maps.get(name)?.close();
      this.#placement.pools = table;
      this.#maps = new Map([...this.#maps, ...runMaps]);
    } catch (error) {
      closeMaps(runMaps);
      throw error;
    }
  }

  setNodeAddresses(family: Family, addresses: ReadonlyMap<Ip, NodeAddressKind>): 'written' | 'full' {
    return this.#tables[family].nodeAddresses.set(addresses);
  }

  /** How the kernel's maps differ from what this process wrote for a family, in words. Undefined if they do not. */
  async difference(family: Family): Promise<string | undefined> {
    const breaks = new Breaks();
    let looked = 0;
    for (const { pools } of this.ports(family).values()) {
      if (++looked % CHUNK_SIZE === 0 && breaks.isDue) await breaks.take();
      for (const pool of pools) {
        const difference = this.#placement.pools.difference(family, pool);
        if (difference !== undefined) return difference;
      }
    }
    return await this.#tables[family].difference(breaks);
  }

  /** The kernel keeps the maps until no program uses them any more. */
  close(): void {
    this.#placement.pools.close();
    closeMaps(this.maps);
  }

  #roomFor(family: Family, steps: readonly Step[]): 'enough' | 'no-slots' | 'full' {
    const added = steps.filter(({ change }) => change.to);
    const hasRoom =
      added.every(({ change: { to } }) => to && hasPartsFor(this.features, to)) &&
      this.#tables[family].hasRoomFor(added);
    return hasRoom ? this.#placement.roomFor(family, added) : 'full';
  }

  /** Writes what both generations have, from what this process knows: another program may have changed the maps. */
  async #keep(former: Generation, contents: readonly FamilyContents[]): Promise<void> {
    const breaks = new Breaks();
    await this.#placement.keep(former.#placement, family =>
      contents.filter(each => each.family === family).flatMap(each => keptPorts(each, former)),
    );
    for (const each of contents) {
      const { family, dropped } = each;
      const { withAffinity, withLeastConnections } = former.need(family);
      if (withAffinity + withLeastConnections > 0) {
        for (const some of parts(keptPorts(each, former).filter(({ port }) => needsPart(port)))) {
          if (breaks.isDue) await breaks.take();
          this.#addForParts(family, some);
        }
      }
      await this.#tables[family].copyFrontends(former.#tables[family], dropped, breaks);
    }
    this.#takeFormer = () => {
      for (const { family, dropped } of contents) this.#tables[family].takeOver(former.#tables[family], dropped);
    };
  }

  /** Gives numbers to service ports, and writes them. */
  async #add(family: Family, ports: readonly SocketPort[]): Promise<void> {
    const breaks = new Breaks();
    const tables = this.#tables[family];
    for (let at = 0; at < ports.length; at += CHUNK_SIZE) {
      if (breaks.isDue) await breaks.take();
      const some = ports.slice(at, at + CHUNK_SIZE);
      const chunk = tables.addChunk(some.map(({ id }) => id));
      const placed = some.map(port => this.#placement.placeNew(family, port, chunk));
      this.#publishRuns(family, placed);
      tables.add(placed, chunk);
    }
  }

  #allPorts(): readonly PlacedPort[] {
    return FAMILIES.flatMap(family => [...this.ports(family).values()]);
  }

  #place(family: Family, port: SocketPort, step: Step): PlacedPort {
    if (step.from) return this.#placement.placeChanged(port, step.from, step);
    return this.#placement.placeNew(family, port, this.#tables[family].chunkFor(port.id));
  }

  /** Runs of slots come first, then members, then pools: nothing leads to what is not there yet. Frontends follow. */
  #publishRuns(family: Family, placed: readonly PlacedPort[]): void {
    this.#placement.pools.writeSlots();
    this.#addForParts(family, placed);
    this.#placement.pools.publish();
  }

  /** Adds what session affinity and least connections need. */
  #addForParts(family: Family, placed: readonly PlacedPort[]): void {
    if (this.features.affinity) this.#tables[family].addMembers(placed);
    if (!this.features.leastConnections) return;
    for (const port of placed) if (port.port.isLeastConnections) this.#active.add(port);
  }
}
