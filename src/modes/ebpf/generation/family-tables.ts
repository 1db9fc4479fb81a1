import type { Breaks } from '../../../lib/breaks.ts';
import type { Family } from '../../../net/index.ts';
import type { SocketTarget } from '../render.ts';
import { DIGIT, type Usage } from './capacity.ts';
import type { FrontendChunk } from './frontend-chunk.ts';
import { FrontendTable } from './frontend-table.ts';
import { type GenerationMaps, mapNamed } from './maps.ts';
import { MemberTable } from './member-table.ts';
import { Need } from './need.ts';
import { NodeAddressTable } from './node-address-table.ts';
import { newMembers, newTargets, type PlacedPort, type Step, sumOf } from './placed-port.ts';

/** The service ports of one family, and the hash maps that have them. */
export class FamilyTables {
  #ports = new Map<string, PlacedPort>();
  #need = new Need();
  readonly nodeAddresses: NodeAddressTable;
  readonly #frontends: FrontendTable;
  /** Undefined without session affinity. */
  readonly #members: MemberTable | undefined;

  constructor(family: Family, maps: GenerationMaps, hasAffinity: boolean) {
    const map = (name: 'frontends' | 'nodeAddresses' | 'members') => mapNamed(maps, `${name}${DIGIT[family]}`);
    this.#frontends = new FrontendTable(family, map('frontends'));
    this.nodeAddresses = new NodeAddressTable(map('nodeAddresses'));
    this.#members = hasAffinity ? new MemberTable(family, map('members')) : undefined;
  }

  /** By plan id. */
  get ports(): ReadonlyMap<string, PlacedPort> {
    return this.#ports;
  }

  /** Of all service ports, also while the maps are filled. */
  get need(): Need {
    return this.#need;
  }

  /** Service ports with this need are about to be added. */
  expect(need: Need): void {
    this.#need = need;
  }

  *usage(): Generator<Usage> {
    yield this.#frontends.usage;
    yield this.nodeAddresses.usage;
    if (this.#members) yield this.#members.usage;
  }

  hasRoomFor(added: readonly Step[]): boolean {
    const members = sumOf(added, newMembers);
    return this.#frontends.hasRoom(sumOf(added, newTargets)) && (this.#members?.hasRoom(members) ?? true);
  }

  /** Lets clients keep endpoints of service ports. Their runs are in the maps, but nothing leads to them yet. */
  addMembers(placed: readonly PlacedPort[]): void {
    this.#members?.add(placed, ({ port }) => this.ports.get(port.id));
  }

  /** The chunk of a service port that is new. */
  chunkFor(id: string): FrontendChunk {
    return this.#frontends.chunkFor(id);
  }

  /** The chunk of service ports that are new. */
  addChunk(ids: string[]): FrontendChunk {
    return this.#frontends.addChunk(ids);
  }

  /** Adds all service ports of a chunk, which are expected. */
  add(placed: readonly PlacedPort[], chunk: FrontendChunk): void {
    for (const port of placed) this.#ports.set(port.port.id, port);
    this.#frontends.add(placed, chunk);
  }

  /** `moved`: those whose frontends changed. `added`: how many of the targets are new. */
  set(placed: readonly PlacedPort[], moved: readonly PlacedPort[], added: number): void {
    for (const port of placed) this.#remember(port);
    this.#frontends.set(moved, added);
  }

  /** Writes the frontends of another generation. Its service ports are not in `ports` before `takeOver`. */
  async copyFrontends(former: FamilyTables, dropped: ReadonlySet<PlacedPort>, breaks: Breaks): Promise<void> {
    for (const { chunk } of dropped) chunk.entries = undefined;
    const portsOf = (chunk: FrontendChunk) =>
      [...new Set(chunk.ids)].flatMap(id => {
        const port = former.#ports.get(id);
        return port?.chunk === chunk && !dropped.has(port) ? [port] : [];
      });
    await this.#frontends.copy(former.#frontends, portsOf, breaks);
  }

  /** Takes the service ports of another generation, which is no longer used. A new list of all of them would take time. */
  takeOver(former: FamilyTables, dropped: Iterable<PlacedPort>): void {
    const added = this.#ports;
    this.#ports = former.#ports;
    for (const { port } of dropped) this.#ports.delete(port.id);
    for (const [id, port] of added) this.#ports.set(id, port);
  }

  /** Removes what service ports no longer have. */
  remove(steps: readonly Step[]): void {
    const removed = steps.flatMap(({ diff }) => diff.removedTargets);
    if (removed.length > 0) {
      // What one service port lost, another may have got in the same write.
      const text = ({ ip, port }: SocketTarget) => `${ip} ${port}`;
      const kept = new Set(steps.flatMap(({ change }) => change.to?.targets.map(text) ?? []));
      this.#frontends.remove(removed, target => !kept.has(text(target)));
    }
    for (const { change, from } of steps) {
      if (!change.to) this.#forget(change.id);
      if (from && !change.to) from.chunk.entries = undefined;
      if (from && from.port.affinitySeconds > 0) this.#members?.remove(from, this.ports.get(change.id));
    }
  }

  /** How the kernel's maps differ from what this process wrote, in words. Undefined if they do not. */
  async difference(breaks: Breaks): Promise<string | undefined> {
    return (
      (await this.#frontends.difference(this.ports.values(), breaks)) ??
      (await this.nodeAddresses.difference(breaks)) ??
      (await this.#members?.difference(this.ports.values(), breaks))
    );
  }

  #remember(placed: PlacedPort): void {
    const former = this.#ports.get(placed.port.id);
    if (former) this.#need.remove(former.port);
    this.#need.add(placed.port);
    this.#ports.set(placed.port.id, placed);
  }

  #forget(id: string): void {
    const former = this.#ports.get(id);
    if (former) this.#need.remove(former.port);
    this.#ports.delete(id);
  }
}
