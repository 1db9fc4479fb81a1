import { Breaks } from '../../lib/breaks.ts';
import { FAMILIES, type Family, type Ip, isLinkLocal } from '../../net/index.ts';
import type { MetricSet } from '../../observe/metrics/index.ts';
import type { ModeContext } from '../descriptor.ts';
import type { FrontendConnections } from '../frontend-connections.ts';
import type { SocketLayer } from '../layered-mode.ts';
import type { MeasureObserver, ModeCondition, ModeSettings, SocketReading } from '../mode.ts';
import { NodeAddresses } from '../node-addresses.ts';
import type { PlanBook } from '../plan-book.ts';
import { ModeShell } from '../shell.ts';
import { FrontendIndex, openSockets, type ServicePortTraffic, sumOfTraffic } from '../traffic/index.ts';
import { DRIFT_SCHEDULE } from './drift.ts';
import type { GenerationMaps } from './generation/maps.ts';
import type { EbpfOptions } from './generation/options.ts';
import { Translation } from './generation/translation.ts';
import { ebpfMetrics } from './metrics.ts';
import { SocketReader } from './sockets/index.ts';
import { EbpfWriter } from './writer.ts';

export type { EbpfOptions } from './generation/options.ts';

export interface EbpfModeOptions extends EbpfOptions, ModeContext {}

/** ebpf mode's own part: programs that lead the sockets of clients to endpoints. Another mode serves the network. */
export class EbpfMode extends ModeShell<EbpfWriter> implements SocketLayer {
  readonly #options: EbpfModeOptions;
  readonly #addresses: NodeAddresses;
  readonly #translation: Translation;
  readonly #left = new Map<Family, readonly string[]>();
  #reader: SocketReader | undefined;
  /** Undefined if the mode must list the addresses again. */
  #nodeIPs: ReadonlySet<Ip> | undefined;

  constructor(options: EbpfModeOptions) {
    super(options, DRIFT_SCHEDULE);
    const { namespace, families = FAMILIES } = options;
    this.#options = options;
    this.#addresses = new NodeAddresses(
      namespace,
      ip => this.#addressChanged(ip),
      error => this.events.failed({ action: "watch the node's addresses", error }),
      { clock: this.clock },
    );
    this.#translation = new Translation({
      ...options,
      families,
      changes: () => this.#changes(),
      failed: (error, needsSync) => this.#failed(error, needsSync),
      notice: message => this.events.notice(families[0] ?? 'IPv4', message),
      attempted: () => this.events.conditionChanged?.(),
    });
  }

  condition(): ModeCondition {
    return this.#translation.condition();
  }

  /** The maps of the generation that serves now. */
  get maps(): GenerationMaps | undefined {
    return this.#translation.generation?.maps;
  }

  /** Takes no turn: the kernel answers also while the mode writes. */
  async sockets(): Promise<SocketReading> {
    const peers = this.#translation.serving?.state.get('peers');
    if (!peers) return { sockets: [], count: 0, incomplete: this.condition().note };
    this.#reader ??= new SocketReader(this.#translation.programChoice.nodeCookie);
    return await this.#reader.read(peers);
  }

  async leave(family: Family, ids: readonly string[]): Promise<void> {
    this.#left.set(family, ids);
    await this.turn(async () => {
      const writer = this.writers.get(family);
      if (writer?.leave(ids)) await writer.write();
    });
  }

  async *connections(): AsyncGenerator<FrontendConnections> {
    if (!this.#options.countConnections) return;
    const breaks = new Breaks();
    for (const counted of this.#translation.connections()) {
      if (breaks.isDue) await breaks.take();
      yield counted;
    }
  }

  async connectionCounts(): Promise<ReadonlyMap<string, number> | undefined> {
    if (!this.#options.countConnections) return undefined;
    const counts = new Map<string, number>();
    for await (const { service, connections } of this.connections()) {
      if (connections > 0) counts.set(service, (counts.get(service) ?? 0) + connections);
    }
    return counts;
  }

  /** New connections by service port, as programs counted them. Open ones by endpoint, as the kernel's sockets are. */
  async traffic(): Promise<readonly ServicePortTraffic[] | undefined> {
    if (!this.#options.countConnections) return undefined;
    const index = await FrontendIndex.of(this.plans());
    const { sockets } = await this.sockets();
    return await sumOfTraffic([this.connections(), openSockets(sockets, index)]);
  }

  protected createMetrics(metrics: MetricSet): MeasureObserver {
    return ebpfMetrics(metrics, this.#translation);
  }

  protected open(family: Family, _settings: ModeSettings, book: PlanBook): EbpfWriter {
    const writer = new EbpfWriter({
      family,
      book,
      translation: this.#translation,
      nodeIPs: () => this.#listNodeIPs(),
      turn: work => this.turn(work),
      turnWithoutChange: work => this.turnWithoutChange(work),
    });
    writer.leave(this.#left.get(family) ?? []);
    return writer;
  }

  protected override stopWatching(): void {
    this.#addresses.close();
  }

  /** Pinned links go on serving. */
  protected async release(idle: Promise<void>): Promise<void> {
    await idle;
    this.#reader?.close();
    this.#translation.close();
  }

  async #changes() {
    const changes = [];
    for (const writer of this.writers.values()) changes.push((await writer.changes()) ?? []);
    return changes.flat();
  }

  /** A sync of any family writes the maps of all. */
  #failed(error: unknown, needsSync: boolean): void {
    const [family] = this.writers.keys();
    const action = 'translate connections at sockets; the network serves them';
    this.events.failed({ family: needsSync ? family : undefined, action, error, needsSync });
  }

  /** Every pod's link has a link-local address; those do not count. */
  #addressChanged(ip: Ip | undefined): void {
    if (ip !== undefined && isLinkLocal(ip)) return;
    this.#nodeIPs = undefined;
    this.writeSoon();
  }

  #listNodeIPs(): ReadonlySet<Ip> {
    this.#nodeIPs ??= new Set(this.#addresses.list());
    return this.#nodeIPs;
  }
}
