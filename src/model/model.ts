import { type EndpointSlice, LABEL_SERVICE_NAME, objectKey, type Service } from '../api/index.ts';
import { appendTo } from '../lib/append-to.ts';
import { type Change, changeBetween } from '../lib/change.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import { NONE } from '../lib/none.ts';
import type { ReportProblem } from '../lib/problem.ts';
import type { Family } from '../net/index.ts';
import { convertService } from './convert-service.ts';
import { mergeEndpoints, type PortEndpoints } from './merge-endpoints.ts';
import { type ServicePort, sameServicePorts } from './service-port.ts';
import { convertSlice, type SliceRecord, sameSlice } from './slice-record.ts';

export interface ModelOptions {
  readonly family: Family;
  /** Endpoints with this node name are local. */
  readonly nodeName: string;
  readonly report: ReportProblem;
  /** Milliseconds since 1970. Earlier trigger times are ignored: another process has handled those changes. */
  readonly startedAt: number;
}

/** One Service as of a `take`. It never changes: the next `take` replaces it. */
export interface ServiceState {
  /** `ns/name` */
  readonly key: string;
  /** Empty if the model has only EndpointSlices of the Service. */
  readonly ports: readonly ServicePort[];
  readonly endpoints: readonly PortEndpoints[];
}

/** What changed between two calls of `take`. */
export interface ModelDiff {
  /** Services whose ports or endpoints changed, each once. */
  readonly services: readonly Change<ServiceState>[];
  /** The kernel may hold flows to endpoints that are gone: endpoints of a protocol other than TCP changed. */
  readonly staleFlowsPossible: boolean;
  /** When the causes of endpoint changes happened, by Service, in the order of arrival. */
  readonly triggerTimes: ReadonlyMap<string, readonly number[]>;
}

/** What the next `take` will change in one Service. */
interface PendingService {
  readonly key: string;
  /** Undefined if the ports are the same as in the last `take`. */
  ports: readonly ServicePort[] | undefined;
  slicesChanged: boolean;
}

/**
 * Services and EndpointSlices of one IP family. Objects may come at any time and in any order. `service` and `services`
 * return the state as of the last `take`.
 */
export class Model {
  readonly family: Family;
  readonly #options: ModelOptions;
  /** As of the last `take`. */
  readonly #services = new Map<string, ServiceState>();
  /** The newest slices, by their own keys. */
  readonly #slices = new Map<string, SliceRecord>();
  /** The newest slices of each Service, in the order of their keys. */
  readonly #slicesOfServices = new Map<string, readonly SliceRecord[]>();
  /** Services that changed since the last `take`, also those that changed back. */
  #pending = new Map<string, PendingService>();
  readonly #healthCheckNodePorts = new Map<string, number>();
  #triggerTimes = new Map<string, number[]>();

  constructor(options: ModelOptions) {
    this.family = options.family;
    this.#options = options;
  }

  /** Returns the ports that the Service has now in this family. */
  setService(service: Service): readonly ServicePort[] {
    const ports = convertService(service, this.family, this.#options.report);
    // On a node with one family the model of the other family stays empty. This saves making keys for it.
    const isEmpty = this.#services.size === 0 && this.#pending.size === 0;
    if (ports.length > 0 || !isEmpty) this.#setPorts(objectKey(service.metadata), ports);
    return ports;
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
        kind: 'EndpointSlice',
        object: `EndpointSlice ${objectKey(slice.metadata)}`,
        field: `metadata.labels[${LABEL_SERVICE_NAME}]`,
        message: 'is missing, so the slice belongs to no Service and is left out',
      });
      this.deleteEndpointSlice(objectKey(slice.metadata));
      return;
    }
    const service = this.#sharedKey(objectKey({ namespace, name: serviceName }));
    const record = convertSlice(slice, service, this.#options.nodeName, this.#options.report);
    const known = this.#slices.get(record.key);
    if (known && sameSlice(known, record)) return;
    if (known && known.service !== service) this.deleteEndpointSlice(record.key);
    this.#slices.set(record.key, record);
    this.#setSlices(service, withSlice(this.#slicesOf(service), record));
    this.#noteTriggerTime(record);
  }

  deleteEndpointSlice(key: string): void {
    const known = this.#slices.get(key);
    if (!known) return;
    this.#slices.delete(key);
    this.#setSlices(
      known.service,
      this.#slicesOf(known.service).filter(slice => slice.key !== key),
    );
    // The latency of a removal is not measured, and the times of earlier causes would measure it.
    this.#triggerTimes.delete(known.service);
  }

  /** True if something changed since the last `take`, even if it changed back. */
  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** The number of Services whose ports changed since the last `take`. */
  get pendingServices(): number {
    return count(this.#pending.values(), ({ ports }) => ports !== undefined);
  }

  /** The number of Services whose endpoints changed since the last `take`. */
  get pendingEndpoints(): number {
    return count(this.#pending.values(), ({ slicesChanged }) => slicesChanged);
  }

  /** Brings all states up to date and returns what changed since the last call. */
  take(): ModelDiff {
    const triggerTimes = this.#triggerTimes;
    const pending = this.#pending;
    this.#triggerTimes = new Map();
    this.#pending = new Map();
    const services: Change<ServiceState>[] = [];
    let staleFlowsPossible = false;
    for (const changed of pending.values()) {
      if (changed.ports === undefined && !changed.slicesChanged) continue;
      const from = this.#services.get(changed.key);
      const to = this.#nextState(changed, from);
      if (to) this.#services.set(changed.key, to);
      else this.#services.delete(changed.key);
      if (changed.ports !== undefined) this.#setHealthCheckNodePort(changed.key, changed.ports);
      if (changed.slicesChanged) staleFlowsPossible ||= hasLastingFlows(from) || hasLastingFlows(to);
      const change = changeBetween(from, to);
      if (change) services.push(change);
    }
    return { services, staleFlowsPossible, triggerTimes };
  }

  service(key: string): ServiceState | undefined {
    return this.#services.get(key);
  }

  services(): IterableIterator<ServiceState> {
    return this.#services.values();
  }

  /** `ns/slice` of the newest slices of a Service, in the order of their names. */
  sliceKeysOf(service: string): readonly string[] {
    return this.#slicesOf(service).map(({ key }) => key);
  }

  /** A copy of `healthCheckNodePort` by Service. */
  get healthCheckNodePorts(): ReadonlyMap<string, number> {
    return new Map(this.#healthCheckNodePorts);
  }

  /**
   * The number of addresses of a Service that are local and ready, over all its ports. Terminating ones never count.
   */
  localReadyEndpoints(key: string): number {
    const ips = new Set<string>();
    for (const { endpoints } of this.#services.get(key)?.endpoints ?? NONE) {
      for (const { ip, ready, isLocal } of endpoints) if (ready && isLocal) ips.add(ip);
    }
    return ips.size;
  }

  #setPorts(key: string, ports: readonly ServicePort[]): void {
    const state = this.#services.get(key);
    const pending = this.#pending.get(key);
    if (ports.length === 0 && !state && !pending) return;
    const isChange = !sameServicePorts(state?.ports ?? NONE, ports);
    if (isChange) (pending ?? this.#addPending(state?.key ?? key)).ports = ports;
    else if (pending) pending.ports = undefined;
  }

  #setSlices(service: string, slices: readonly SliceRecord[]): void {
    if (slices.length > 0) this.#slicesOfServices.set(service, slices);
    else this.#slicesOfServices.delete(service);
    (this.#pending.get(service) ?? this.#addPending(service)).slicesChanged = true;
  }

  #slicesOf(service: string): readonly SliceRecord[] {
    return this.#slicesOfServices.get(service) ?? NONE;
  }

  #addPending(key: string): PendingService {
    const pending: PendingService = { key, ports: undefined, slicesChanged: false };
    this.#pending.set(key, pending);
    return pending;
  }

  /** One string for equal keys, to save memory. */
  #sharedKey(key: string): string {
    return this.#services.get(key)?.key ?? this.#pending.get(key)?.key ?? key;
  }

  /** Undefined if nothing is left of the Service. */
  #nextState({ key, ports, slicesChanged }: PendingService, from: ServiceState | undefined): ServiceState | undefined {
    const slices = this.#slicesOf(key);
    const nextPorts = ports ?? from?.ports ?? NONE;
    if (nextPorts.length === 0 && slices.length === 0) return undefined;
    return { key, ports: nextPorts, endpoints: slicesChanged ? mergeEndpoints(slices) : (from?.endpoints ?? NONE) };
  }

  #setHealthCheckNodePort(key: string, ports: readonly ServicePort[]): void {
    // All ports of a Service have the same health check node port.
    const healthCheckNodePort = ports[0]?.healthCheckNodePort;
    if (healthCheckNodePort) this.#healthCheckNodePorts.set(key, healthCheckNodePort);
    else if (this.#healthCheckNodePorts.size > 0) this.#healthCheckNodePorts.delete(key);
  }

  #noteTriggerTime({ service, triggerTime }: SliceRecord): void {
    if (triggerTime === undefined || triggerTime <= this.#options.startedAt) return;
    appendTo(this.#triggerTimes, service, triggerTime);
  }
}

/** The kernel keeps flows of protocols other than TCP when their endpoint is gone. */
function hasLastingFlows(service: ServiceState | undefined): boolean {
  return service?.endpoints.some(({ protocol }) => protocol !== 'TCP') ?? false;
}

function withSlice(slices: readonly SliceRecord[], added: SliceRecord): readonly SliceRecord[] {
  if (slices.length === 0) return [added];
  const others = slices.filter(({ key }) => key !== added.key);
  return [...others, added].sort((a, b) => compareTexts(a.key, b.key));
}

function count<T>(items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let counted = 0;
  for (const item of items) if (isCounted(item)) counted++;
  return counted;
}
