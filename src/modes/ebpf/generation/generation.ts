import { Breaks } from '../../../lib/breaks.ts';
import { FAMILIES, type Family, type Ip } from '../../../net/index.ts';
import type { NodeAddressKind, SocketPort } from '../render.ts';
import { ActiveEndpoints } from './active-endpoints.ts';
import { type Capacity, DIGIT, type Usage } from './capacity.ts';
import { FrontendTable } from './frontend-table.ts';
import { closeMaps, createMaps, type Features, type GenerationMaps, mapNamed, type StateMaps } from './maps.ts';
import { MemberTable } from './member-table.ts';
import { NodeAddressTable } from './node-address-table.ts';
import { type PlacedPort, type PortChange, type Step, stepOf } from './placed-port.ts';
import { PoolTable } from './pool-table.ts';

/** How many service ports are published together, and how many are looked at before the time is. */
const CHUNK = 512;

/** The tables of one family. */
interface Tables {
  readonly ports: Map<string, PlacedPort>;
  readonly frontends: FrontendTable;
  readonly nodeAddresses: NodeAddressTable;
  readonly members: MemberTable | undefined;
}

/**
 * The maps of one generation and what is in them. Programs refer to the maps, so everything that needs other maps (more
 * room, another part) makes a new generation.
 */
export class Generation {
  readonly features: Features;
  readonly maps: GenerationMaps;
  readonly #tables: Readonly<Record<Family, Tables>>;
  readonly #pools: PoolTable;
  readonly #active: ActiveEndpoints;
  readonly #maxCounters: number;
  /** Counter 0 stays unused. */
  #nextCounter = 1;

  constructor(capacity: Capacity, features: Features, state: StateMaps) {
    this.features = features;
    this.maps = createMaps(capacity, features);
    this.#pools = new PoolTable(this.maps);
    this.#tables = { IPv4: this.#tablesOf('IPv4'), IPv6: this.#tablesOf('IPv6') };
    this.#active = new ActiveEndpoints(state);
    this.#maxCounters = features.counts ? capacity.counts : Number.POSITIVE_INFINITY;
  }

  /** The service ports of a family, by plan id. */
  ports(family: Family): ReadonlyMap<string, PlacedPort> {
    return this.#tables[family].ports;
  }

  *usage(): Generator<Usage> {
    for (const family of FAMILIES) {
      const { frontends, nodeAddresses, members } = this.#tables[family];
      for (const table of [frontends, nodeAddresses, members]) if (table) yield table.usage;
    }
    yield* this.#pools.usage();
  }

  /** A part that no service port needs any more. */
  get hasUnusedParts(): boolean {
    const { affinity, leastConnections } = this.features;
    const some = (test: (port: SocketPort) => boolean) =>
      FAMILIES.some(family => [...this.ports(family).values()].some(({ port }) => test(port)));
    return (
      (affinity && !some(({ affinitySeconds }) => affinitySeconds > 0)) ||
      (leastConnections && !some(({ isLeastConnections }) => isLeastConnections))
    );
  }

  /** Endpoints that no service port has, and that no connection has any more, are no longer counted. */
  forgetIdleEndpoints(): void {
    if (this.features.leastConnections)
      this.#active.sweep(FAMILIES.flatMap(family => [...this.ports(family).values()]));
  }

  /** Writes what changed. `full`: it has not enough room, or lacks a part. Then it has written nothing. */
  async write(changes: readonly PortChange[]): Promise<'written' | 'full'> {
    const breaks = new Breaks();
    if (!(await this.#fits(changes, breaks))) return 'full';
    const replacing: Step[] = [];
    for (let at = 0; at < changes.length; at += CHUNK) {
      if (breaks.isDue) await breaks.take();
      const steps = changes.slice(at, at + CHUNK).map(change => this.#stepOf(change));
      this.#add(steps);
      for (const step of steps) if (step.from) replacing.push(step);
    }
    this.#remove(replacing, changes);
    return 'written';
  }

  setNodeAddresses(family: Family, addresses: ReadonlyMap<Ip, NodeAddressKind>): 'written' | 'full' {
    return this.#tables[family].nodeAddresses.set(addresses);
  }

  /** How the kernel's maps differ from what this process wrote for a family, in words. Undefined if they do not. */
  async difference(family: Family): Promise<string | undefined> {
    const breaks = new Breaks();
    const { ports, frontends, nodeAddresses, members } = this.#tables[family];
    let looked = 0;
    for (const { pools } of ports.values()) {
      if (++looked % CHUNK === 0 && breaks.isDue) await breaks.take();
      for (const pool of pools) {
        const difference = this.#pools.difference(family, pool);
        if (difference !== undefined) return difference;
      }
    }
    return (
      (await frontends.difference(ports.values(), breaks)) ??
      (await nodeAddresses.difference(breaks)) ??
      (await members?.difference(ports.values(), breaks))
    );
  }

  /** The kernel keeps the maps until no program uses them any more. */
  close(): void {
    this.#pools.close();
    closeMaps(this.maps);
  }

  #tablesOf(family: Family): Tables {
    const map = (name: 'frontends' | 'nodeAddresses' | 'members') => mapNamed(this.maps, `${name}${DIGIT[family]}`);
    return {
      ports: new Map(),
      frontends: new FrontendTable(family, map('frontends')),
      nodeAddresses: new NodeAddressTable(map('nodeAddresses')),
      members: this.features.affinity ? new MemberTable(family, map('members')) : undefined,
    };
  }

  #stepOf(change: PortChange): Step {
    return stepOf(change, this.ports(change.family).get(change.id));
  }

  async #fits(changes: readonly PortChange[], breaks: Breaks): Promise<boolean> {
    const need = { pools: 0, counters: 0, slots: zero(), frontends: zero(), members: zero() };
    for (const [i, change] of changes.entries()) {
      if (i % CHUNK === 0 && breaks.isDue) await breaks.take();
      const { family, to } = change;
      if (!to) continue;
      if (!this.#hasPartsFor(to)) return false;
      const step = this.#stepOf(change);
      if (!step.from) need.counters++;
      need.frontends[family] += newTargets(step);
      for (const { name, endpoints } of step.diff.changedPools) {
        if (!step.from?.pools.some(pool => pool.name === name)) need.pools++;
        need.slots[family] += endpoints.length;
      }
      if (to.affinitySeconds > 0) for (const { endpoints } of to.pools) need.members[family] += endpoints.length;
    }
    return (
      this.#nextCounter + need.counters <= this.#maxCounters &&
      this.#pools.hasRoom(need.pools, need.slots) &&
      FAMILIES.every(family => this.#tables[family].frontends.hasRoom(need.frontends[family])) &&
      FAMILIES.every(family => this.#tables[family].members?.hasRoom(need.members[family]) ?? true)
    );
  }

  #hasPartsFor({ affinitySeconds, isLeastConnections }: SocketPort): boolean {
    const { affinity, leastConnections } = this.features;
    return (affinity || affinitySeconds === 0) && (leastConnections || !isLeastConnections);
  }

  /** Runs of slots come first, then members, then pools, then frontends: nothing leads to what is not there yet. */
  #add(steps: readonly Step[]): void {
    const placed: Record<Family, PlacedPort[]> = { IPv4: [], IPv6: [] };
    const added = zero();
    for (const step of steps) {
      const { family, to } = step.change;
      if (!to) continue;
      placed[family].push(this.#place(step, to));
      added[family] += newTargets(step);
    }
    this.#pools.writeSlots();
    for (const family of FAMILIES) for (const port of placed[family]) this.#addMembers(port);
    this.#pools.publish();
    for (const family of FAMILIES) {
      const { ports, frontends } = this.#tables[family];
      for (const port of placed[family]) ports.set(port.port.id, port);
      frontends.set(placed[family], added[family]);
    }
  }

  #place({ change: { family }, from, diff }: Step, port: SocketPort): PlacedPort {
    const kept = from?.pools.filter(({ name }) => diff.keptPools.includes(name)) ?? [];
    const placed = diff.changedPools.map(pool =>
      this.#pools.place(
        family,
        pool,
        from?.pools.find(({ name }) => name === pool.name),
      ),
    );
    const pools = kept.length === 0 ? placed : [...kept, ...placed];
    return { family, port, pools, counter: from?.counter ?? (this.features.counts ? this.#nextCounter++ : 0) };
  }

  #addMembers(placed: PlacedPort): void {
    const { port, family } = placed;
    const { ports, members } = this.#tables[family];
    if (port.affinitySeconds > 0) members?.add(placed, ports.get(port.id));
    if (port.isLeastConnections) this.#active.add(placed);
  }

  /** `replacing`: the changes of service ports that were there before. */
  #remove(replacing: readonly Step[], changes: readonly PortChange[]): void {
    const losing = replacing.filter(({ diff }) => diff.removedTargets.length > 0);
    // What one service port lost, another may have got in the same write.
    const kept = new Set(losing.length === 0 ? [] : changes.flatMap(targetTexts));
    for (const family of FAMILIES) {
      const removed = losing.flatMap(({ change, diff }) => (change.family === family ? diff.removedTargets : []));
      this.#tables[family].frontends.remove(removed, ({ ip, port }) => !kept.has(`${family} ${ip} ${port}`));
    }
    for (const { change, from } of replacing) {
      const { ports, members } = this.#tables[change.family];
      if (!change.to) ports.delete(change.id);
      if (from && from.port.affinitySeconds > 0) members?.remove(from, ports.get(change.id));
    }
  }
}

function zero(): Record<Family, number> {
  return { IPv4: 0, IPv6: 0 };
}

/** How many targets the former version of the service port has not. Those that go are removed later. */
function newTargets({ change: { to }, from, diff }: Step): number {
  return (to?.targets.length ?? 0) - (from?.port.targets.length ?? 0) + diff.removedTargets.length;
}

function targetTexts({ family, to }: PortChange): readonly string[] {
  return to?.targets.map(({ ip, port }) => `${family} ${ip} ${port}`) ?? [];
}
