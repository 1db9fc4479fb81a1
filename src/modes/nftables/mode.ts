import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type Commit, NftablesSocket, type Transaction } from '../../kernel/nftables/index.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import type { MetricSet } from '../../observe/metrics/index.ts';
import type { EndedEndpoint } from '../../plan/index.ts';
import type { FrontendConnections } from '../frontend-connections.ts';
import type { MeasureObserver, ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { endConnections, type OpenRelay, openRelay, type RelayOptions } from '../relay/index.ts';
import { ModeShell, type ShellOptions } from '../shell.ts';
import { FlowTraffic, type ServicePortTraffic, sumOfTraffic } from '../traffic/index.ts';
import { countByService } from './connections/count-by-service.ts';
import { readConnections, readTraffic } from './connections/read-connections.ts';
import { readWithRetries } from './connections/read-with-retries.ts';
import { DriftWatch, type TableDrift } from './drift.ts';
import { kernelTable } from './kernel-state/table-access.ts';
import { type ListenerCounts, LocalhostListeners } from './localhost/localhost-listeners.ts';
import { registerLocalhost } from './localhost/localhost-metrics.ts';
import { type RejectedPackets, readRejectedPackets } from './localhost/rejected-packets.ts';
import { nftablesMetrics } from './metrics.ts';
import { layoutOf } from './table/layout.ts';
import { NftablesWriter } from './writer.ts';

export interface NftablesOptions {
  /** The kernel counts new connections for each frontend. */
  readonly countConnections?: boolean | undefined;
  /** Masqueraded TCP connections of node processes keep their source port if it is free. The default is false. */
  readonly keepNodeSourcePorts?: boolean | undefined;
  /** The mode serves or rejects node ports at loopback addresses: a feature gate of upstream. */
  readonly localhostNodePorts?: boolean | undefined;
}

export interface NftablesModeOptions extends NftablesOptions, ShellOptions {
  readonly namespace?: NetworkNamespace | undefined;
  /** The size of the buffer for notifications, in bytes. */
  readonly receiveBuffer?: number | undefined;
  /** How the mode relays connections to node ports at loopback addresses. */
  readonly relay?: Partial<RelayOptions> | undefined;
}

/** The watch is paused for transactions with more commands than this. */
const LARGE_TRANSACTION = 500;

/** As long as connection tracking remembers a UDP flow that nothing answered. */
const UDP_IDLE_TIMEOUT_MS = 30_000;

/** nftables mode: a fixed program, and elements for Services, written over netlink. */
export class NftablesMode extends ModeShell<NftablesWriter> {
  readonly #options: NftablesModeOptions;
  readonly #socket: NftablesSocket;
  readonly #watch: DriftWatch;
  readonly #localhost = new Map<Family, LocalhostListeners>();
  /** Made when a caller first asks for traffic. */
  #flows: FlowTraffic | undefined;
  /** Opened with the first family that needs it. */
  #relay: OpenRelay | undefined;

  constructor(options: NftablesModeOptions) {
    super(options);
    const { namespace, receiveBuffer } = options;
    this.#options = options;
    this.#socket = NftablesSocket.open({ namespace });
    this.#watch = new DriftWatch({
      namespace,
      receiveBuffer,
      clock: this.clock,
      generation: () => this.#socket.generation(),
      drifted: drift => this.#drifted(drift),
      lost: cause => {
        for (const family of this.writers.keys()) this.reportDrift(family, { cause });
      },
    });
  }

  /** What the kernel counted so far. The kernel ends the listing with an error if any program changes the ruleset. */
  async *connections(): AsyncGenerator<FrontendConnections> {
    for (const { layout } of this.writers.values()) yield* readConnections(this.#socket, layout);
  }

  async connectionCounts(): Promise<ReadonlyMap<string, number> | undefined> {
    if (!this.#options.countConnections) return undefined;
    return await countByService(() => this.connections());
  }

  /** Reads the counters of frontends, and the flows that the kernel tracks. */
  async traffic(): Promise<readonly ServicePortTraffic[] | undefined> {
    if (!this.#options.countConnections || this.isClosed) return undefined;
    this.#flows ??= new FlowTraffic({
      namespace: this.#options.namespace,
      clock: this.clock,
      plans: () => this.plans(),
    });
    const flows = await this.#flows.read();
    return await readWithRetries(() => sumOfTraffic([this.#counted(), flows]));
  }

  async *#counted(): AsyncGenerator<ServicePortTraffic> {
    for (const { layout } of this.writers.values()) yield* readTraffic(this.#socket, layout);
  }

  protected createMetrics(metrics: MetricSet): MeasureObserver {
    if (this.#options.localhostNodePorts) {
      registerLocalhost(metrics, this.clock, {
        listeners: () => this.#listenerCounts(),
        rejectedPackets: () => this.#rejectedPackets(),
      });
    }
    return nftablesMetrics(metrics);
  }

  async endConnections(ended: readonly EndedEndpoint[]): Promise<ReadonlyMap<EndedEndpoint, number>> {
    return endConnections(this.#relay?.resources, ended);
  }

  protected open(family: Family, settings: ModeSettings, book: PlanBook): NftablesWriter {
    if (this.writers.size === 0) this.#watch.restart();
    const layout = layoutOf(family, this.#options);
    const table = kernelTable(this.#socket, layout, transaction => this.#commit(family, transaction));
    const localhost = this.#options.localhostNodePorts ? this.#openLocalhost(family, book) : undefined;
    return new NftablesWriter(layout, settings, table, book, this.events, localhost);
  }

  protected override afterWrite(): void {
    this.#watch.listen();
  }

  protected override stopWatching(): void {
    this.#watch.close();
  }

  /** Closes the listeners first: connections to them would wait in vain while other work ends. */
  protected async release(idle: Promise<void>): Promise<void> {
    this.#closeLocalhost();
    await idle;
    // The work that ran may have opened another family.
    this.#closeLocalhost();
    this.#flows?.close();
    this.#relay?.close();
    this.#socket.close();
  }

  #openLocalhost(family: Family, book: PlanBook): LocalhostListeners {
    const { namespace, relay } = this.#options;
    const options = { udpIdleTimeoutMs: UDP_IDLE_TIMEOUT_MS, ...relay };
    this.#relay ??= openRelay(options, namespace, this.clock, this.events);
    const { resources } = this.#relay;
    const listeners = new LocalhostListeners({
      family,
      resources,
      clock: this.clock,
      book,
      events: this.events,
      turn: work => this.turn(work),
    });
    this.#localhost.set(family, listeners);
    return listeners;
  }

  #closeLocalhost(): void {
    for (const listeners of this.#localhost.values()) listeners.close();
  }

  *#listenerCounts(): Generator<readonly [Family, ListenerCounts]> {
    for (const [family, { counts }] of this.#localhost) if (counts) yield [family, counts];
  }

  async #rejectedPackets(): Promise<readonly RejectedPackets[]> {
    const layouts = Array.from(this.writers.values(), ({ layout }) => layout);
    const read = await Promise.all(layouts.map(layout => readRejectedPackets(this.#socket, layout)));
    return read.flat();
  }

  async #commit(family: Family, transaction: Transaction): Promise<Commit> {
    const objects = sizeOf(transaction);
    if (objects > LARGE_TRANSACTION) this.#watch.pause();
    const start = performance.now();
    const commit = await this.#socket.commit(transaction);
    this.#watch.noteOwn(commit.generation);
    this.events.measured(family, { kind: 'batch', objects, milliseconds: performance.now() - start });
    return commit;
  }

  #drifted({ family: nft, cause, sets }: TableDrift): void {
    const family = FAMILIES.find(name => layoutOf(name).nft === nft);
    if (family) this.reportDrift(family, { cause, parts: sets });
  }
}

function sizeOf(transaction: Transaction): number {
  let size = 0;
  for (const { object } of transaction.commands) size += object.kind === 'elements' ? object.elements.length : 1;
  return size;
}
