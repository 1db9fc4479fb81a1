import type { EndpointSlice, KubeObject, Node, Service, ServiceCIDR } from '../api/index.ts';
import type { ApiClient } from '../client/index.ts';
import { Informer, type InformerReporter, type Resource } from '../client/informer/index.ts';
import type { Change } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { ENDPOINT_SLICES, ownNode, SERVICE_CIDRS, SERVICES } from './cluster-resources.ts';
import type { Source, SourceHandlers } from './source.ts';

export interface ClusterSourceOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  /** Content types that are asked for, best first. */
  readonly accept: string;
  /** How often all objects are told again, at least a second; 0: never. */
  readonly resyncMs: number;
  /** Hears of problems, instead of the handlers: the first come before there are any. */
  readonly report: InformerReporter;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** How one resource is followed, for those who look after that. */
export interface Following {
  readonly path: string;
  readonly hasSynced: boolean;
  /** Milliseconds since anything came over the watch; undefined before the first time. */
  readonly silentMs: number | undefined;
}

const SHORTEST_RESYNC_MS = 1000;

/** Objects from an API server, which has filled in their defaults. */
export class ClusterSource implements Source {
  /** May be started before the others: a proxy must know its Node first. */
  readonly node: Informer<Node>;
  readonly services: Informer<Service>;
  readonly endpointSlices: Informer<EndpointSlice>;
  readonly serviceCidrs: Informer<ServiceCIDR>;
  readonly #clock: Clock;

  constructor(options: ClusterSourceOptions) {
    const { clock = systemClock } = options;
    const resyncMs = options.resyncMs > 0 ? Math.max(options.resyncMs, SHORTEST_RESYNC_MS) : 0;
    const reporter: InformerReporter = {
      ...options.report,
      watchRecovered: path => {
        options.report.watchRecovered(path);
        this.#retryNow();
      },
    };
    const informer = <T extends KubeObject>(resource: Resource<T>) =>
      new Informer({ ...options, reporter, clock, resyncMs, resource });
    this.#clock = clock;
    this.node = informer(ownNode(options.nodeName));
    this.services = informer(SERVICES);
    this.endpointSlices = informer(ENDPOINT_SLICES);
    this.serviceCidrs = informer(SERVICE_CIDRS);
  }

  /** Resolves at once: without an API server it goes on trying. */
  async start(handlers: SourceHandlers): Promise<void> {
    let missing = 4;
    const synced = () => {
      missing--;
      if (missing === 0) handlers.synced();
    };
    handOver(this.node, change => handlers.node(change), synced);
    handOver(this.serviceCidrs, change => handlers.serviceCidr(change), synced);
    handOver(this.services, change => handlers.service(change), synced);
    handOver(this.endpointSlices, change => handlers.endpointSlice(change), synced);
  }

  async close(): Promise<void> {
    await Promise.all([
      this.node.close(),
      this.services.close(),
      this.endpointSlices.close(),
      this.serviceCidrs.close(),
    ]);
  }

  /** If one informer reaches the API server again, the others need not wait for their own back-off. */
  #retryNow(): void {
    for (const informer of [this.node, this.services, this.endpointSlices, this.serviceCidrs]) informer.retryNow();
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
  informer.addHandler({ changed, synced });
  informer.start();
}
