import type { EndpointSlice, KubeObject, Node, ObjectLookup, Service, ServiceCIDR } from '../api/index.ts';
import type { ApiClient } from '../client/index.ts';
import { ConnectWaits, Informer, type InformerReporter, type Resource } from '../client/informer/index.ts';
import type { Change } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { ENDPOINT_SLICES, ownNode, SERVICE_CIDRS, SERVICES } from './cluster-resources.ts';
import type { Source, SourceHandlers } from './source.ts';

export interface ClusterSourceOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  /** The content types that requests accept, best first. */
  readonly accept: string;
  /** How often the handlers receive all objects again, at least a second. 0 means never. */
  readonly resyncMs: number;
  /** After this long without anything from a watch, the source checks whether the watch is deaf. */
  readonly silenceMs?: number | undefined;
  /** Receives the problems, because the first ones come before there are handlers. */
  readonly report: InformerReporter;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** The state of one watch, for health checks. */
export interface Following {
  readonly path: string;
  readonly hasSynced: boolean;
  /** Milliseconds since the last data of the watch. Undefined before the first data. */
  readonly silentMs: number | undefined;
}

const MIN_RESYNC_MS = 1000;
const MIN_REACHED_MS = 1000;

/** Objects from an API server. They have their defaults already. */
export class ClusterSource implements Source {
  /** The caller may start this one before the others, because a proxy must know its Node first. */
  readonly node: Informer<Node>;
  readonly services: Informer<Service>;
  readonly endpointSlices: Informer<EndpointSlice>;
  readonly serviceCidrs: Informer<ServiceCIDR>;
  readonly #clock: Clock;
  #lastReachedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ClusterSourceOptions) {
    const { clock = systemClock, random = Math.random } = options;
    const resyncMs = options.resyncMs > 0 ? Math.max(options.resyncMs, MIN_RESYNC_MS) : 0;
    const connectWaits = new ConnectWaits({ clock, random });
    const reporter: InformerReporter = {
      ...options.report,
      watchRecovered: path => {
        options.report.watchRecovered(path);
        this.#serverReached();
      },
    };
    const informer = <T extends KubeObject>(resource: Resource<T>) =>
      new Informer({ ...options, reporter, clock, resyncMs, resource, connectWaits });
    this.#clock = clock;
    this.node = informer(ownNode(options.nodeName));
    this.services = informer(SERVICES);
    this.endpointSlices = informer(ENDPOINT_SLICES);
    this.serviceCidrs = informer(SERVICE_CIDRS);
  }

  /** Resolves at once. If the API server is unreachable, the watches retry. */
  async start(handlers: SourceHandlers): Promise<void> {
    let missing = 4;
    const synced = () => {
      missing--;
      if (missing === 0) handlers.synced();
    };
    handOver(this.node, change => handlers.nodeChanged(change), synced);
    handOver(this.serviceCidrs, change => handlers.serviceCidrChanged(change), synced);
    handOver(this.services, change => handlers.serviceChanged(change), synced);
    handOver(this.endpointSlices, change => handlers.endpointSliceChanged(change), synced);
  }

  async close(): Promise<void> {
    await Promise.all([
      this.node.close(),
      this.services.close(),
      this.endpointSlices.close(),
      this.serviceCidrs.close(),
    ]);
  }

  /**
   * If one informer reaches the API server again, the others need not wait for their own back-off. They do so at most
   * once a second, because a server that answers and then breaks off would otherwise be asked without a pause.
   */
  #serverReached(): void {
    const now = this.#clock.elapsed();
    if (now - this.#lastReachedAt < MIN_REACHED_MS) return;
    this.#lastReachedAt = now;
    for (const informer of [this.node, this.services, this.endpointSlices, this.serviceCidrs]) informer.serverReached();
  }

  get objects(): ObjectLookup {
    return {
      service: key => this.services.get(key),
      services: () => this.services.objects(),
      slice: key => this.endpointSlices.get(key),
      slices: () => this.endpointSlices.objects(),
    };
  }

  following(): readonly Following[] {
    const now = this.#clock.elapsed();
    const of = <T extends KubeObject>({ resource, hasSynced, lastDataAt }: Informer<T>): Following => ({
      path: resource.path,
      hasSynced,
      silentMs: lastDataAt === undefined ? undefined : now - lastDataAt,
    });
    return [of(this.node), of(this.services), of(this.endpointSlices), of(this.serviceCidrs)];
  }
}

function handOver<T extends KubeObject>(
  informer: Informer<T>,
  changed: (change: Change<T>) => void,
  synced: () => void,
): void {
  informer.addHandler({
    changed,
    synced,
  });
  informer.start();
}
