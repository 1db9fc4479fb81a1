import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type IpvsSocket,
  keyFamily,
  printKey,
  type ServiceEntry,
  type ServiceKey,
} from '../../../kernel/ipvs/index.ts';
import { type Family, joinHostPort } from '../../../net/index.ts';
import { type EndedEndpoint, endedConnectionTest } from '../../../plan/index.ts';
import { isDrained, type KnownServer, serverChanges } from '../diff.ts';
import type { WantedObjects } from '../wanted/wanted-objects.ts';
import { isLeftOver, type Owner } from './ownership.ts';
import { ACTIONS, isGone, noteChange, type OwnServer, refusedBy, type ServerChange } from './server-changes.ts';
import { type BatchObserver, measureBatch, type RefusedObject, type WriteSummary } from './write-report.ts';

/** After reading this many lists of real servers, the process does other work. */
const LISTS_PER_TURN = 200;
const CHANGES_PER_BATCH = 5000;

export interface ServerWriteOptions {
  readonly wanted: WantedObjects;
  readonly summary: WriteSummary;
  progress(done: number, of: number): void;
}

/** The part of the socket that the table uses. */
export type IpvsKernel = Pick<IpvsSocket, 'services' | 'service' | 'destinations' | 'apply'>;

/** The mode's virtual servers of one family that the kernel has, as far as the mode knows. */
export class ServerTable {
  readonly #socket: IpvsKernel;
  readonly #family: Family;
  readonly #observe: BatchObserver;
  readonly #known = new Map<string, OwnServer>();
  /** Virtual servers with real servers that leave when their last connection ends. */
  readonly #draining = new Set<string>();

  constructor(socket: IpvsKernel, family: Family, observe: BatchObserver) {
    this.#socket = socket;
    this.#family = family;
    this.#observe = observe;
  }

  get known(): ReadonlyMap<string, KnownServer> {
    return this.#known;
  }

  get isDraining(): boolean {
    return this.#draining.size > 0;
  }

  /** Reads the mode's own virtual servers. A virtual server that this table knew before is still the mode's own. */
  async read(ownerOf: (key: ServiceKey) => Owner): Promise<void> {
    const listed = this.#socket.services().filter(({ key }) => keyFamily(key) === this.#family);
    const owned = listed.map(service => {
      const id = printKey(service.key);
      return { id, service, owner: this.#known.has(id) ? 'us' : ownerOf(service.key) };
    });
    this.#known.clear();
    this.#draining.clear();
    const ours = owned.filter(({ owner }) => owner === 'us');
    const unclear = owned.filter(({ owner }) => owner === 'unclear');
    this.#observe(1 + ours.length + unclear.length, 0);
    for (const [index, { id, service }] of ours.entries()) {
      this.#known.set(id, this.#withDestinations(service));
      if (index % LISTS_PER_TURN === LISTS_PER_TURN - 1) await nextTurn();
    }
    for (const { id, service } of unclear) {
      const server = this.#withDestinations(service);
      if (isLeftOver(server, this.#known.values())) this.#known.set(id, server);
    }
  }

  /** Asks for one virtual server only, because `ipvsadm -C` removes all of them. */
  areCleared(): boolean {
    const [first] = this.#known.values();
    return first !== undefined && this.#socket.service(first.service.key) === undefined;
  }

  async write(
    ids: Iterable<string>,
    { wanted, summary, progress }: ServerWriteOptions,
  ): Promise<readonly RefusedObject[]> {
    const refused: RefusedObject[] = [];
    const sorted = [...ids].sort((a, b) => rank(a) - rank(b));
    let changes: ServerChange[] = [];
    for (const [index, id] of sorted.entries()) {
      const own = serverChanges(wanted.server(id), this.#known.get(id)).map(change => ({ id, change }));
      changes.push(...own);
      if (changes.length < CHANGES_PER_BATCH) continue;
      refused.push(...(await this.#apply(changes, summary)));
      progress(index + 1, sorted.length);
      changes = [];
    }
    refused.push(...(await this.#apply(changes, summary)));
    for (const id of sorted) this.#draining.delete(id);
    const leaving = sorted.filter(id => this.#hasLeaving(id, wanted));
    await this.#drain(leaving, wanted, summary);
    return refused;
  }

  /** Removes real servers whose last connection ended. */
  drain(wanted: WantedObjects): Promise<void> {
    return this.#drain([...this.#draining], wanted, undefined);
  }

  /** Removes real servers that leave although they have connections. The kernel then forgets these connections. */
  async endNow(wanted: WantedObjects, ended: readonly EndedEndpoint[]): Promise<void> {
    const find = endedConnectionTest(ended, true);
    const changes: ServerChange[] = [];
    for (const id of this.#draining) {
      const known = this.#known.get(id);
      if (known?.service.key.kind !== 'address') continue;
      const { key } = known.service;
      const stay = new Set(wanted.server(id)?.endpoints.map(({ text }) => text));
      for (const [name, { address, port }] of known.destinations) {
        const connection = { destination: { ip: key.address, port: key.port }, answeredBy: { ip: address, port } };
        if (stay.has(name) || !find(connection)) continue;
        changes.push({ id, change: { kind: 'del-dest', service: key, destination: { address, port } } });
      }
    }
    await this.#apply(changes, undefined);
  }

  #withDestinations(service: ServiceEntry): OwnServer {
    const destinations = new Map(
      this.#socket
        .destinations(service.key)
        .map(({ address, port, weight, forward, upperThreshold, lowerThreshold }) => {
          // Some kernels list a real server on the machine itself as `local`.
          const isPlain = (forward === 'masq' || forward === 'local') && upperThreshold === 0 && lowerThreshold === 0;
          return [joinHostPort(address, port), { address, port, weight, isPlain }];
        }),
    );
    return { service, destinations };
  }

  async #apply(changes: readonly ServerChange[], summary: WriteSummary | undefined): Promise<readonly RefusedObject[]> {
    if (changes.length === 0) return [];
    const refusals = await measureBatch(this.#observe, changes.length, () =>
      this.#socket.apply(changes.map(({ change }) => change)),
    );
    const errors = new Map(refusals.map(({ item, error }) => [item, error]));
    const refused = new Map<string, RefusedObject>();
    for (const { id, change } of changes) {
      const error = errors.get(change);
      if (error && !isGone(change, error)) {
        // If the kernel refused the virtual server, it refuses the real servers only because of that.
        if (!refused.has(id)) refused.set(id, refusedBy(id, change, error));
        continue;
      }
      noteChange(this.#known, id, change);
      summary?.add(ACTIONS[change.kind]);
    }
    return [...refused.values()];
  }

  #hasLeaving(id: string, wanted: WantedObjects): boolean {
    const known = this.#known.get(id);
    const stay = new Set(wanted.server(id)?.endpoints.map(({ text }) => text));
    return known !== undefined && [...known.destinations.keys()].some(name => !stay.has(name));
  }

  async #drain(ids: readonly string[], wanted: WantedObjects, summary: WriteSummary | undefined): Promise<void> {
    const changes: ServerChange[] = [];
    for (const id of ids) {
      const known = this.#known.get(id);
      const stay = new Set(wanted.server(id)?.endpoints.map(({ text }) => text));
      this.#draining.delete(id);
      if (!known || !isDrained(known.service.key)) continue;
      this.#observe(1, 0);
      const { key } = known.service;
      const listed = this.#socket
        .destinations(key)
        .filter(({ address, port }) => !stay.has(joinHostPort(address, port)));
      for (const { address, port, activeConnections, inactiveConnections } of listed) {
        if (activeConnections + inactiveConnections > 0) this.#draining.add(id);
        else changes.push({ id, change: { kind: 'del-dest', service: key, destination: { address, port } } });
      }
    }
    await this.#apply(changes, summary);
  }
}

/** DNS comes first, because everything else depends on it. */
function rank(id: string): number {
  return id.endsWith(':53') ? 0 : 1;
}
