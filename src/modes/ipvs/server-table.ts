import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KernelError } from '../../kernel/errors.ts';
import {
  type IpvsChange as Change,
  type IpvsSocket,
  keyFamily,
  printKey,
  type ServiceEntry,
  type ServiceKey,
} from '../../kernel/ipvs/index.ts';
import { type Family, joinHostPort } from '../../net/index.ts';
import { isLeftOver, type Owner } from './ownership.ts';
import { applyChange, isDrained, type KnownServer, serverChanges } from './server-diff.ts';
import type { Wanted } from './wanted.ts';
import { type Measured, type Refused, timed, type Written } from './written.ts';

/** Lists of destinations that are read before other work gets its turn. */
const LISTS_A_TURN = 200;
const CHANGES_A_STEP = 5000;

export interface WriteOptions {
  readonly wanted: Wanted;
  readonly written: Written;
  progress(done: number, of: number): void;
}

/** What is asked of the kernel. */
export type IpvsKernel = Pick<IpvsSocket, 'services' | 'service' | 'destinations' | 'apply'>;

/** The virtual servers of one family: what the kernel has of ours, and who is on the way out. */
export class ServerTable {
  readonly #socket: IpvsKernel;
  readonly #family: Family;
  readonly #measured: Measured;
  readonly #known = new Map<string, KnownServer>();
  /** Virtual servers with destinations that end when their last connection does. */
  readonly #draining = new Set<string>();

  constructor(socket: IpvsKernel, family: Family, measured: Measured) {
    this.#socket = socket;
    this.#family = family;
    this.#measured = measured;
  }

  ids(): Iterable<string> {
    return this.#known.keys();
  }

  get isDraining(): boolean {
    return this.#draining.size > 0;
  }

  /** Reads those that are ours; what was ours before still is. Others belong to somebody else and stay as they are. */
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
    this.#measured(1 + ours.length + unclear.length, 0);
    for (const [index, { id, service }] of ours.entries()) {
      this.#known.set(id, this.#withDestinations(service));
      if (index % LISTS_A_TURN === LISTS_A_TURN - 1) await nextTurn();
    }
    for (const { id, service } of unclear) {
      const server = this.#withDestinations(service);
      if (isLeftOver(server, this.#known.values())) this.#known.set(id, server);
    }
  }

  /** Whether one that should be there is: all vanish at once when somebody clears the table. */
  isThere(): boolean {
    const [first] = this.#known.values();
    return !first || this.#socket.service(first.service.key) !== undefined;
  }

  async write(ids: Iterable<string>, { wanted, written, progress }: WriteOptions): Promise<readonly Refused[]> {
    const refused: Refused[] = [];
    const sorted = [...ids].sort((a, b) => rank(a) - rank(b));
    let changes: OwnChange[] = [];
    for (const [index, id] of sorted.entries()) {
      const own = serverChanges(wanted.server(id), this.#known.get(id)).map(change => ({ id, change }));
      changes.push(...own);
      if (changes.length < CHANGES_A_STEP) continue;
      refused.push(...(await this.#apply(changes, written)));
      progress(index + 1, sorted.length);
      changes = [];
    }
    refused.push(...(await this.#apply(changes, written)));
    await this.#drain(
      sorted.filter(id => this.#isLeft(id, wanted)),
      wanted,
      written,
    );
    return refused;
  }

  /** Removes destinations whose last connection ended. */
  drain(wanted: Wanted, written: Written): Promise<void> {
    return this.#drain([...this.#draining], wanted, written);
  }

  #withDestinations(service: ServiceEntry): KnownServer {
    const destinations = new Map(
      this.#socket
        .destinations(service.key)
        .map(({ address, port, weight, forward, upperThreshold, lowerThreshold }) => {
          // Some kernels call it local where the real server is on the machine itself.
          const isPlain = (forward === 'masq' || forward === 'local') && upperThreshold === 0 && lowerThreshold === 0;
          return [joinHostPort(address, port), { address, port, weight, isPlain }];
        }),
    );
    return { service, destinations };
  }

  async #apply(changes: readonly OwnChange[], written: Written): Promise<readonly Refused[]> {
    if (changes.length === 0) return [];
    const refusals = await timed(this.#measured, changes.length, () =>
      this.#socket.apply(changes.map(({ change }) => change)),
    );
    const errors = new Map(refusals.map(({ item, error }) => [item, error]));
    const refused = new Map<string, Refused>();
    for (const { id, change } of changes) {
      const error = errors.get(change);
      if (error && !isGone(change, error)) {
        // What is refused after the virtual server itself is refused only because of that.
        if (!refused.has(id)) refused.set(id, refusedBy(id, change, error));
        continue;
      }
      applyChange(this.#known, id, change);
      written.add(NAMES[change.kind]);
    }
    return [...refused.values()];
  }

  /** Whether somebody is on the way out. */
  #isLeft(id: string, wanted: Wanted): boolean {
    const known = this.#known.get(id);
    const stay = new Set(wanted.server(id)?.endpoints.map(({ text }) => text));
    const isLeft = known !== undefined && [...known.destinations.keys()].some(name => !stay.has(name));
    if (!isLeft) this.#draining.delete(id);
    return isLeft;
  }

  async #drain(ids: readonly string[], wanted: Wanted, written: Written): Promise<void> {
    const changes: OwnChange[] = [];
    for (const id of ids) {
      const known = this.#known.get(id);
      const stay = new Set(wanted.server(id)?.endpoints.map(({ text }) => text));
      this.#draining.delete(id);
      if (!known || !isDrained(known.service.key)) continue;
      this.#measured(1, 0);
      const { key } = known.service;
      const listed = this.#socket
        .destinations(key)
        .filter(({ address, port }) => !stay.has(joinHostPort(address, port)));
      for (const { address, port, activeConnections, inactiveConnections } of listed) {
        if (activeConnections + inactiveConnections > 0) this.#draining.add(id);
        else changes.push({ id, change: { kind: 'del-dest', service: key, destination: { address, port } } });
      }
    }
    await this.#apply(changes, written);
  }
}

interface OwnChange {
  readonly id: string;
  readonly change: Change;
}

const NAMES: Readonly<Record<Change['kind'], string>> = {
  'new-service': 'added virtual server',
  'set-service': 'changed virtual server',
  'del-service': 'deleted virtual server',
  'new-dest': 'added real server',
  'set-dest': 'changed real server',
  'del-dest': 'deleted real server',
};

/** Names come first, for all else depends on them. */
function rank(id: string): number {
  return id.endsWith(':53') ? 0 : 1;
}

/** What should go has gone by itself. */
function isGone({ kind }: Change, { errno = '' }: KernelError): boolean {
  return (kind === 'del-service' || kind === 'del-dest') && ['ESRCH', 'ENOENT'].includes(errno);
}

function refusedBy(object: string, change: Change, error: KernelError): Refused {
  return { object, error, isStale: isStale(change, error), scheduler: missingScheduler(change, error) };
}

function isStale({ kind }: Change, { errno = '' }: KernelError): boolean {
  return errno === 'EEXIST' || errno === 'ESRCH' || (errno === 'ENOENT' && kind === 'set-dest');
}

/** The kernel knows the service but not how to schedule it. */
function missingScheduler(change: Change, { errno }: KernelError): string | undefined {
  if (change.kind !== 'new-service' && change.kind !== 'set-service') return undefined;
  return errno === 'ENOENT' ? change.service.scheduler : undefined;
}
