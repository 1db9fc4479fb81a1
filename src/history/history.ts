import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import type { ModelDiff } from '../model/index.ts';
import { type Repair, type SetAside, setAsideName } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { EndedEndpoint, PlanDiff } from '../plan/index.ts';
import { ChangePath, type SyncTimes } from './change-path.ts';
import type { Entry } from './entry.ts';
import type { Followed } from './followers.ts';
import { type EntryQuery, Journal } from './journal.ts';
import { nodeWords } from './node-words.ts';
import { count } from './plan-words.ts';
import type { RingLimits } from './ring.ts';

const LIMITS: RingLimits = { maxEntries: 4096, maxBytes: 4 << 20 };
/** So many problems of the first objects have an entry. */
const MAX_START_PROBLEMS = 100;

/** The last changes, from the event of an object to the kernel. It takes no more memory than its limits. */
export class History {
  readonly startedAt: number;
  readonly #journal: Journal;
  readonly #path: ChangePath;
  readonly #received = { Service: 0, EndpointSlice: 0 };
  readonly #arrivalListeners = new Set<(service: string) => void>();
  #hasListed = false;
  #startProblems = 0;

  constructor(clock: Clock = systemClock, limits: RingLimits = LIMITS) {
    this.#journal = new Journal(clock, limits);
    this.#path = new ChangePath(clock, this.#journal);
    this.startedAt = clock.now();
  }

  get size(): number {
    return this.#journal.size;
  }

  /** An upper bound of the memory that the entries take. */
  get bytes(): number {
    return this.#journal.bytes;
  }

  /** The oldest first. */
  entries(query: EntryQuery = {}): readonly Entry[] {
    return this.#journal.entries(query);
  }

  /** All entries from now on. A change comes when the kernel has it. */
  follow(signal: AbortSignal): AsyncGenerator<Followed> {
    return this.#journal.follow(signal);
  }

  /** Calls the listener with the Service of each event that a sync has yet to take. Returns a function that ends this. */
  onArrival(listener: (service: string) => void): () => void {
    this.#arrivalListeners.add(listener);
    return () => void this.#arrivalListeners.delete(listener);
  }

  /** The number of the newest entry. */
  get newestId(): number {
    return this.#journal.newestId;
  }

  /**
   * When each of the Services changed last, in milliseconds since 1970. Services that did not change lately are missing.
   * By default all Services.
   */
  lastChanges(services?: ReadonlySet<string>): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    for (const { kind, service, at } of this.#journal.newestFirst()) {
      if (kind !== 'change' || times.has(service) || services?.has(service) === false) continue;
      times.set(service, at);
      if (times.size === services?.size) break;
    }
    return times;
  }

  /** Since when every change of a Service has an entry, in milliseconds since 1970. */
  get completeSince(): number {
    for (const { kind, lastAt } of this.#journal.newestFirst()) if (kind === 'changes') return lastAt;
    return this.#journal.oldestAt ?? this.startedAt;
  }

  /** The Services with changes that the kernel does not have yet. Undefined if all Services may have some. */
  waitingServices(): ReadonlySet<string> | undefined {
    if (!this.#hasListed) return undefined;
    const waiting = new Set<string>(this.#path.arrivedServices());
    for (const { service, state, kind } of this.#journal.newestFirst()) {
      if (state !== 'waiting') continue;
      if (kind === 'sync' || kind === 'changes') return undefined;
      waiting.add(service);
    }
    return waiting;
  }

  started(text: string): void {
    this.#journal.add('start', text);
  }

  serviceChanged(change: Change<Service>): void {
    this.#arrived('Service', change);
  }

  endpointSliceChanged(change: Change<EndpointSlice>): void {
    this.#arrived('EndpointSlice', change);
  }

  nodeChanged(change: Change<Node>): void {
    const text = nodeWords(change);
    if (text === undefined) return;
    const object = `Node ${latestOf(change).metadata.name}`;
    this.#journal.add('node', text, { object });
    this.#path.generalChange(`${object} ${change.type}`);
  }

  serviceCidrChanged(change: Change<ServiceCIDR>): void {
    if (isRepeated(change)) return;
    const { metadata, cidrs } = latestOf(change);
    const object = `ServiceCIDR ${metadata.name}`;
    this.#journal.add('serviceCidr', `${change.type}: ${cidrs.join(', ')}`, { object });
  }

  /** The source has delivered all objects. */
  listed(): void {
    if (this.#hasListed) return;
    this.#hasListed = true;
    const { Service: services, EndpointSlice: slices } = this.#received;
    const text = `received ${count(services, 'Service')}, ${count(slices, 'EndpointSlice')} at the start`;
    this.#journal.add('listed', text);
  }

  configured(text: string): void {
    this.#journal.add('configuration', text);
    this.#path.generalChange('the configuration changed');
  }

  configurationRefused(reason: string): void {
    this.#journal.addRepeated('configuration', 'configuration', `refused the changed file: ${reason}`, {});
  }

  /** A sync takes all changes that have come so far. */
  taken(): void {
    this.#path.taken();
  }

  /** The sync of a family is about these changes. */
  planned(family: Family, model: ModelDiff, plans: PlanDiff): void {
    this.#path.planned(family, model, plans);
  }

  /** Returns the longest time from the event of a Service to the kernel. Undefined if no Service changed. */
  synced(family: Family, times: SyncTimes): number | undefined {
    return this.#path.synced(family, times);
  }

  syncFailed(family: Family, message: string): void {
    this.#path.syncFailed(family, message);
  }

  repaired(family: Family, { cause, written }: Repair): void {
    this.#journal.addRepeated(`repair ${family}`, 'repair', written, { family, cause });
  }

  /** The proxy learned something about endpoints of a Service, and plans it again. */
  learned(service: string, words: string): void {
    this.#path.learned(service, words);
  }

  setAside(port: SetAside): void {
    const { family, namespace, name, protocol, cause } = port;
    const service = `${namespace}/${name}`;
    this.#path.refused(family, service);
    const change = `${setAsideName(port)}/${protocol} is not programmed: ${cause.message}`;
    this.#journal.add('setAside', change, { family, service, object: `Service ${service}` });
  }

  connectionsEnded(family: Family, ended: EndedEndpoint, connections: number): void {
    const text = `ended ${count(connections, 'connection')} of ${ended.endpoint.text}, which is gone`;
    this.#journal.add('ended', text, { family, service: ended.service, object: `Service ${ended.service}` });
  }

  watchFailed({ where = '', message }: Problem): void {
    this.#journal.addRepeated(`watch ${where}`, 'watchFailed', message, { object: where });
  }

  watchRecovered(where: string): void {
    if (this.#journal.forget(`watch ${where}`)) this.#journal.add('watchRecovered', 'watched again', { object: where });
  }

  problem({ object, where = '', field, message }: Problem): void {
    if (!this.#hasListed && ++this.#startProblems > MAX_START_PROBLEMS) return;
    const service = object?.startsWith('Service ') ? object.slice('Service '.length) : '';
    const text = field === undefined ? message : `${field} ${message}`;
    this.#journal.addRepeated('problem', 'problem', text, { object: object ?? where, service });
  }

  recovered(where: string): void {
    this.#journal.add('recovered', 'the problem with the input is over', { object: where });
  }

  /** The first objects have one entry together. */
  #arrived(kind: 'Service' | 'EndpointSlice', change: Change<Service> | Change<EndpointSlice>): void {
    if (this.#hasListed) {
      if (isRepeated<Service | EndpointSlice>(change)) return;
      const service = this.#path.arrived(change);
      if (service !== undefined) for (const listener of this.#arrivalListeners) listener(service);
    } else if (change.type === 'added') this.#received[kind]++;
    else if (change.type === 'removed') this.#received[kind]--;
  }
}

/** A resync delivers every object again. */
function isRepeated<T>(change: Change<T>): boolean {
  return change.type === 'updated' && change.from === change.to;
}
