import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type Commit, NftablesSocket, type Transaction } from '../../kernel/nftables/index.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import type { MetricSet } from '../../observe/metrics/index.ts';
import type { MeasureObserver, ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { ModeShell, type ShellOptions } from '../shell.ts';
import { registerConnections } from './connections/connection-metrics.ts';
import { type FrontendConnections, readConnections } from './connections/read-connections.ts';
import { DriftWatch, type TableDrift } from './drift.ts';
import { kernelTable } from './kernel-state/table-access.ts';
import { nftablesMetrics } from './metrics.ts';
import { layoutOf } from './table/layout.ts';
import { NftablesWriter } from './writer.ts';

export interface NftablesOptions {
  /** The kernel counts new connections for each frontend. */
  readonly countConnections?: boolean | undefined;
}

export interface NftablesModeOptions extends NftablesOptions, ShellOptions {
  readonly namespace?: NetworkNamespace | undefined;
  /** The size of the buffer for notifications, in bytes. */
  readonly receiveBuffer?: number | undefined;
}

/** The watch is paused for transactions with more commands than this. */
const LARGE_TRANSACTION = 500;

/** nftables mode: a fixed program, and elements for Services, written over netlink. */
export class NftablesMode extends ModeShell<NftablesWriter> {
  readonly #options: NftablesOptions;
  readonly #socket: NftablesSocket;
  readonly #watch: DriftWatch;

  constructor({ namespace, receiveBuffer, ...options }: NftablesModeOptions) {
    super(options);
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

  protected createMetrics(metrics: MetricSet): MeasureObserver {
    if (this.#options.countConnections) registerConnections(metrics, this.clock, () => this.connections());
    return nftablesMetrics(metrics);
  }

  protected open(family: Family, settings: ModeSettings, book: PlanBook): NftablesWriter {
    if (this.writers.size === 0) this.#watch.restart();
    const layout = layoutOf(family, this.#options);
    const table = kernelTable(this.#socket, layout, transaction => this.#commit(family, transaction));
    return new NftablesWriter(layout, settings, table, book, this.events);
  }

  protected override afterWrite(): void {
    this.#watch.listen();
  }

  protected override stopWatching(): void {
    this.#watch.close();
  }

  protected async release(idle: Promise<void>): Promise<void> {
    await idle;
    this.#socket.close();
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
