import { errorText } from '../lib/error-text.ts';
import type { Family } from '../net/index.ts';
import type { MetricSet } from '../observe/metrics/index.ts';
import type { EndedEndpoint, PlanDiff, ServicePortPlan } from '../plan/index.ts';
import type { Listing } from './listing.ts';
import type { Mode, ModeCondition, ModeEvents, ModeSettings, SocketReading, SyncReport } from './mode.ts';
import type { KernelReading } from './read-back.ts';
import { type SetAside, setAsideId } from './set-aside.ts';
import { type ServicePortTraffic, sumOfTraffic, type TrafficFigures } from './traffic/index.ts';

/** A mode that serves some connections at the sockets of clients. What it leaves alone, the network serves. */
export interface SocketLayer extends Mode {
  /**
   * The service ports that the network does not serve, by plan id. The sockets leave them alone too, until a later call
   * does not name them.
   */
  leave(family: Family, ids: readonly string[]): Promise<void>;
}

export interface Layers {
  readonly sockets: SocketLayer;
  /** A mode that serves every service port, with or without the sockets. */
  readonly network: Mode;
}

/**
 * A socket layer in front of a mode that programs the network. The network serves everything that the sockets do not, so
 * no failure of the sockets fails a sync.
 */
export class LayeredMode implements Mode {
  readonly #sockets: SocketLayer;
  readonly #network: Mode;
  readonly #events: ModeEvents;
  /** The service ports that the sockets leave alone, as one text for each family. */
  readonly #left = new Map<Family, string>();
  /** The last error of each action that failed. */
  readonly #reported = new Map<string, string>();

  constructor({ sockets, network }: Layers, events: ModeEvents) {
    this.#sockets = sockets;
    this.#network = network;
    this.#events = events;
  }

  /** The sockets come first: a socket must not choose an endpoint that the network no longer knows. */
  async sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    await this.#attempt(family, `write the ${family} sockets`, () => this.#sockets.sync(family, plans, settings));
    try {
      return await this.#network.sync(family, plans, settings);
    } finally {
      await this.#attempt(family, `leave ${family} service ports out of the sockets`, () =>
        this.#leaveSetAside(family),
      );
    }
  }

  /** A service port that only the sockets lack is served. */
  setAside(): readonly SetAside[] {
    return this.#network.setAside();
  }

  async readBack(family: Family, plan: ServicePortPlan): Promise<KernelReading> {
    const [sockets, network] = await Promise.all([
      this.#sockets.readBack(family, plan),
      this.#network.readBack(family, plan),
    ]);
    return {
      ...network,
      entries: [...sockets.entries, ...network.entries],
      affinity: [...sockets.affinity, ...network.affinity],
      incomplete: joined(sockets.incomplete, network.incomplete),
    };
  }

  async listing(family: Family, plans: readonly ServicePortPlan[]): Promise<Listing> {
    const [sockets, network] = await Promise.all([
      this.#sockets.listing(family, plans),
      this.#network.listing(family, plans),
    ]);
    return {
      blocks: [...sockets.blocks, ...network.blocks],
      notListed: [...(sockets.notListed ?? []), ...(network.notListed ?? [])],
      incomplete: joined(sockets.incomplete, network.incomplete),
    };
  }

  async connectionCounts(): Promise<ReadonlyMap<string, number> | undefined> {
    const [sockets, network] = await Promise.all([
      this.#sockets.connectionCounts?.(),
      this.#network.connectionCounts?.(),
    ]);
    if (!sockets || !network) return sockets ?? network;
    const sums = new Map(network);
    for (const [service, count] of sockets) sums.set(service, (sums.get(service) ?? 0) + count);
    return sums;
  }

  async traffic(): Promise<readonly ServicePortTraffic[] | undefined> {
    const [sockets, network] = await Promise.all([this.#sockets.traffic?.(), this.#network.traffic?.()]);
    if (!sockets || !this.#network.traffic) return sockets ?? network;
    // Without the figures of the network the sums would decrease, and at the next reading they would count twice.
    if (!network) return undefined;
    return (await sumOfTraffic([network, sockets])).map(withoutUncounted);
  }

  condition(): ModeCondition | undefined {
    return this.#sockets.condition?.();
  }

  async sockets(): Promise<SocketReading | undefined> {
    return await this.#sockets.sockets?.();
  }

  async endConnections(ended: readonly EndedEndpoint[]): Promise<ReadonlyMap<EndedEndpoint, number> | undefined> {
    return this.#network.endConnections?.(ended);
  }

  registerMetrics(metrics: MetricSet): void {
    registerServing(metrics, () => this.condition());
    this.#sockets.registerMetrics(metrics);
    this.#network.registerMetrics(metrics);
  }

  get hadChain(): Mode['hadChain'] {
    return this.#network.hadChain?.bind(this.#network);
  }

  /** The sockets close first: what they then leave alone, the network still serves. */
  async close(): Promise<void> {
    try {
      await this.#sockets.close();
    } finally {
      await this.#network.close();
    }
  }

  async #leaveSetAside(family: Family): Promise<void> {
    const ids = this.#network.setAside().flatMap(port => (port.family === family ? [setAsideId(port)] : []));
    const text = ids.sort().join(' ');
    if (text === (this.#left.get(family) ?? '')) return;
    await this.#sockets.leave(family, ids);
    this.#left.set(family, text);
  }

  /** Reports an error once. The next sync tries again. */
  async #attempt(family: Family, action: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#reported.delete(action);
    } catch (error) {
      const text = errorText(error);
      if (this.#reported.get(action) === text) return;
      this.#reported.set(action, text);
      this.#events.failed({ family, action, error });
    }
  }
}

export function registerServing(metrics: MetricSet, condition: () => ModeCondition | undefined): void {
  metrics.readGauge(
    'pointsman_sockets_serving',
    '1 if the mode translates connections at the sockets of clients, 0 if the network serves alone.',
    () => (condition()?.isServing ? 1 : 0),
  );
}

/** No connection is without packets. If the network carried none, sockets had all connections, and nobody counted. */
function withoutUncounted(port: ServicePortTraffic): ServicePortTraffic {
  const endpoints = port.endpoints && new Map(Array.from(port.endpoints, ([text, each]) => [text, counted(each)]));
  return { ...counted(port), endpoints };
}

function counted<Figures extends TrafficFigures>(figures: Figures): Figures {
  const { connections = 0, active = 0, packets } = figures;
  return packets === 0 && connections + active > 0 ? { ...figures, packets: undefined, bytes: undefined } : figures;
}

function joined(...texts: readonly (string | undefined)[]): string | undefined {
  const given = [...new Set(texts.flatMap(text => text ?? []))];
  return given.length === 0 ? undefined : given.join('; ');
}
