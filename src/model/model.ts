import { type EndpointSlice, LABEL_SERVICE_NAME, objectKey, type Service } from '../api/index.ts';
import type { Family } from '../net/index.ts';
import { convertService } from './convert-service.ts';
import { mergeEndpoints, type PortEndpoints } from './merge-endpoints.ts';
import { NONE } from './none.ts';
import type { ReportProblem } from './problem.ts';
import { type ServicePort, sameServicePorts } from './service-port.ts';
import { convertSlice, type SliceRecord, sameSlice } from './slice-record.ts';

export interface ModelOptions {
  readonly family: Family;
  /** This node's name, by which endpoints are local. */
  readonly nodeName: string;
  readonly report: ReportProblem;
  /** Trigger times must be later than this (milliseconds since 1970) to count; earlier ones were somebody else's. */
  readonly startedAt: number;
}

/** What is known of one Service as of the last `take`. */
export interface ServiceState {
  /** `ns/name` */
  readonly key: string;
  /** Empty while there are only slices of it. */
  readonly ports: readonly ServicePort[];
  readonly endpoints: readonly PortEndpoints[];
}

/** What changed between two calls of `take`. */
export interface ModelChange {
  /** Services whose ports or endpoints changed, each once, as they are now. One that is gone has no ports. */
  readonly services: readonly ServiceState[];
  /** Endpoints of a protocol changed for which the kernel may hold flows to endpoints that are gone. */
  readonly staleFlowsPossible: boolean;
  /** When the causes of endpoint changes happened, by Service, in the order in which they arrived. */
  readonly triggerTimes: ReadonlyMap<string, readonly number[]>;
}

interface Entry extends ServiceState {
  ports: readonly ServicePort[];
  endpoints: readonly PortEndpoints[];
  /** The newest slices, in the order of their keys. */
  slices: readonly SliceRecord[];
  /** What the next take will see; undefined if the ports did not change. */
  nextPorts: readonly ServicePort[] | undefined;
  slicesChanged: boolean;
}

/**
 * Services and EndpointSlices of one IP family. Objects may come at any time and in any order; what `service` and
 * `services` tell changes only with `take`, which also says what is new since the call before.
 */
export class Model {
  readonly family: Family;
  readonly #options: ModelOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #slices = new Map<string, SliceRecord>();
  /** Entries that changed since the last take, or changed and changed back. */
  #pending = new Set<Entry>();
  readonly #healthCheckNodePorts = new Map<string, number>();
  #triggerTimes = new Map<string, number[]>();

  constructor(options: ModelOptions) {
    this.family = options.family;
    this.#options = options;
  }

  setService(service: Service): void {
    const ports = convertService(service, this.family, this.#options.report);
    // On a node with one family the other's model is empty and stays so.
    if (ports.length > 0 || this.#entries.size > 0) this.#setPorts(objectKey(service.metadata), ports);
  }

  deleteService(key: string): void {
    this.#setPorts(key, NONE);
  }

  setEndpointSlice(slice: EndpointSlice): void {
    if (slice.addressType !== this.family) return;
    const { name, namespace, labels } = slice.metadata;
    const serviceName = labels[LABEL_SERVICE_NAME];
    if (!serviceName || !name || !namespace) {
      this.#options.report({
        object: `EndpointSlice ${objectKey(slice.metadata)}`,
        field: `metadata.labels[${LABEL_SERVICE_NAME}]`,
        message: 'is missing, so the slice belongs to no Service and is left out',
      });
      this.deleteEndpointSlice(objectKey(slice.metadata));
      return;
    }
    const service = objectKey({ namespace, name: serviceName });
    const entry = this.#entry(service);
    const record = convertSlice(slice, entry.key, this.#options.nodeName, this.#options.report);
    const known = this.#slices.get(record.key);
    if (known && sameSlice(known, record)) return;
    if (known && known.service !== service) this.deleteEndpointSlice(record.key);
    this.#slices.set(record.key, record);
    this.#setSlices(entry, withSlice(entry.slices, record));
    this.#noteTriggerTime(record);
  }

  deleteEndpointSlice(key: string): void {
    const known = this.#slices.get(key);
    if (!known) return;
    this.#slices.delete(key);
    const entry = this.#entry(known.service);
    this.#setSlices(
      entry,
      entry.slices.filter(slice => slice.key !== key),
    );
    // The latency of a removal is not measured, and earlier causes can no longer be told from it.
    this.#triggerTimes.delete(entry.key);
  }

  /** Something changed, perhaps back again, that no `take` has seen yet. */
  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** How many Services have changed ports that no `take` has seen yet. */
  get pendingServices(): number {
    return count(this.#pending, entry => entry.nextPorts !== undefined);
  }

  /** The same of endpoints. */
  get pendingEndpoints(): number {
    return count(this.#pending, entry => entry.slicesChanged);
  }

  take(): ModelChange {
    const triggerTimes = this.#triggerTimes;
    const pending = this.#pending;
    this.#triggerTimes = new Map();
    this.#pending = new Set();
    const services: ServiceState[] = [];
    let staleFlowsPossible = false;
    for (const entry of pending) {
      const changed = entry.nextPorts !== undefined || entry.slicesChanged;
      if (entry.nextPorts !== undefined) this.#takePorts(entry, entry.nextPorts);
      if (entry.slicesChanged) staleFlowsPossible = takeSlices(entry) || staleFlowsPossible;
      if (entry.ports.length === 0 && entry.slices.length === 0) this.#entries.delete(entry.key);
      if (changed) services.push(entry);
    }
    return { services, staleFlowsPossible, triggerTimes };
  }

  service(key: string): ServiceState | undefined {
    return this.#entries.get(key);
  }

  services(): IterableIterator<ServiceState> {
    return this.#entries.values();
  }

  /** `healthCheckNodePort` by Service. */
  get healthCheckNodePorts(): ReadonlyMap<string, number> {
    return this.#healthCheckNodePorts;
  }

  /** How many local addresses of a Service are ready, over all its ports. Terminating ones never count. */
  localReadyEndpoints(key: string): number {
    const ips = new Set<string>();
    for (const { endpoints } of this.#entries.get(key)?.endpoints ?? NONE) {
      for (const { ip, ready, isLocal } of endpoints) if (ready && isLocal) ips.add(ip);
    }
    return ips.size;
  }

  #setPorts(key: string, ports: readonly ServicePort[]): void {
    if (ports.length === 0 && !this.#entries.has(key)) return;
    const entry = this.#entry(key);
    // A Service that returns to what the last take saw is no change.
    entry.nextPorts = sameServicePorts(entry.ports, ports) ? undefined : ports;
    if (entry.nextPorts !== undefined) this.#pending.add(entry);
  }

  #setSlices(entry: Entry, slices: readonly SliceRecord[]): void {
    entry.slices = slices;
    entry.slicesChanged = true;
    this.#pending.add(entry);
  }

  #takePorts(entry: Entry, ports: readonly ServicePort[]): void {
    entry.ports = ports;
    entry.nextPorts = undefined;
    // All ports of a Service have the same.
    const healthCheckNodePort = ports[0]?.healthCheckNodePort;
    if (healthCheckNodePort) this.#healthCheckNodePorts.set(entry.key, healthCheckNodePort);
    else if (this.#healthCheckNodePorts.size > 0) this.#healthCheckNodePorts.delete(entry.key);
  }

  #noteTriggerTime({ service, triggerTime }: SliceRecord): void {
    if (triggerTime === undefined || triggerTime <= this.#options.startedAt) return;
    const times = this.#triggerTimes.get(service);
    if (times) times.push(triggerTime);
    else this.#triggerTimes.set(service, [triggerTime]);
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const entry: Entry = {
      key,
      ports: NONE,
      endpoints: NONE,
      slices: NONE,
      nextPorts: undefined,
      slicesChanged: false,
    };
    this.#entries.set(key, entry);
    return entry;
  }
}

/** Merges the newest slices. True if the kernel may hold flows to endpoints that are gone by this. */
function takeSlices(entry: Entry): boolean {
  const before = entry.endpoints;
  entry.endpoints = mergeEndpoints(entry.slices);
  entry.slicesChanged = false;
  return before.some(outlivesEndpoint) || entry.endpoints.some(outlivesEndpoint);
}

function outlivesEndpoint({ protocol }: PortEndpoints): boolean {
  return protocol !== 'TCP';
}

function withSlice(slices: readonly SliceRecord[], added: SliceRecord): readonly SliceRecord[] {
  if (slices.length === 0) return [added];
  const others = slices.filter(({ key }) => key !== added.key);
  return [...others, added].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function count(entries: Iterable<Entry>, counts: (entry: Entry) => boolean): number {
  let counted = 0;
  for (const entry of entries) if (counts(entry)) counted++;
  return counted;
}
