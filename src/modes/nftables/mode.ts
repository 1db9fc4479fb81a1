import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type Commit, NftablesSocket, type Transaction } from '../../kernel/nftables/index.ts';
import { type Clock, systemClock, type Timer } from '../../lib/clock.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import type { PlanDiff } from '../../plan/index.ts';
import type { FrontendConnections, Mode, ModeEvents, ModeSettings, SetAside, SyncReport } from '../mode.ts';
import { readConnections } from './connections.ts';
import { type Drift, DriftWatch } from './drift-watch.ts';
import { FamilyTable } from './family-table.ts';
import { type LayoutOptions, layoutOf } from './layout.ts';

export interface NftablesModeOptions {
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock?: Clock;
  readonly events: ModeEvents;
  /** Have the kernel count new connections by frontend. */
  readonly countConnections?: boolean | undefined;
}

/** Kernels before 6.2 still count uses that ended just now. */
const SWEEP_AFTER_MS = 1100;
/** Commands beyond which a transaction is made while nobody listens: the kernel takes longer to tell than to do. */
const LARGE = 500;
/** Repairs that are undone again and again are not repeated at once: two programs must not fight for a table. */
const REPAIRS_AT_ONCE = 10;
const LATELY_MS = 10_000;
const FIRST_REPAIR_PAUSE_MS = 500;
const LONGEST_REPAIR_PAUSE_MS = 30_000;

/** nftables mode: a fixed program, and elements for Services, written over netlink. */
export class NftablesMode implements Mode {
  readonly #socket: NftablesSocket;
  readonly #clock: Clock;
  readonly #events: ModeEvents;
  readonly #layoutOptions: LayoutOptions;
  readonly #watch: DriftWatch;
  readonly #tables = new Map<Family, FamilyTable>();
  /** What is to be done with the tables is done one thing after another. */
  readonly #work = new Turns();
  #sweep: Timer | undefined;
  #repair: Timer | undefined;
  readonly #drifted = new Map<Family, Pick<Drift, 'what' | 'sets'>>();
  /** When repairs were made lately. */
  #repairs: number[] = [];
  #repairPause = FIRST_REPAIR_PAUSE_MS;
  #closed = false;

  constructor({ namespace, clock = systemClock, events, countConnections }: NftablesModeOptions) {
    this.#socket = NftablesSocket.open({ namespace });
    this.#clock = clock;
    this.#events = events;
    this.#layoutOptions = { countConnections };
    this.#watch = new DriftWatch({
      namespace,
      clock,
      generation: () => this.#socket.generation(),
      drifted: drift => this.#noteDrift(drift),
      lost: reason => this.#noteLoss(reason),
    });
  }

  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    return this.#work.take(async () => {
      const table = this.#table(family, settings);
      table.setOptions(settings);
      table.want(plans);
      const { isUnsure: full } = table;
      await table.write().catch(error => {
        this.#events.measured(family, { kind: 'refused', partial: !full });
        throw error;
      });
      this.#written(table);
      return { full };
    });
  }

  setAside(): readonly SetAside[] {
    return [...this.#tables.values()].flatMap(table => table.setAside);
  }

  async *connections(): AsyncGenerator<FrontendConnections> {
    for (const { layout } of this.#tables.values()) yield* readConnections(this.#socket, layout);
  }

  /** Waits until all that was begun is done; sweeps what is left over. */
  settle(): Promise<void> {
    return this.#work.take(async () => {
      for (const table of this.#tables.values()) await table.sweep();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep?.cancel();
    this.#repair?.cancel();
    this.#watch.close();
    await this.#work.done;
    this.#socket.close();
  }

  #table(family: Family, settings: ModeSettings): FamilyTable {
    const known = this.#tables.get(family);
    if (known) return known;
    if (this.#tables.size === 0) this.#watch.startAfresh();
    const commit = (transaction: Transaction) => this.#commit(family, transaction);
    const table = new FamilyTable(layoutOf(family, this.#layoutOptions), settings, this.#socket, commit, this.#events);
    this.#tables.set(family, table);
    return table;
  }

  async #commit(family: Family, transaction: Transaction): Promise<Commit> {
    const objects = sizeOf(transaction);
    if (objects > LARGE) this.#watch.pause();
    const start = performance.now();
    const commit = await this.#socket.commit(transaction);
    this.#watch.own(commit.generation);
    this.#events.measured(family, { kind: 'batch', objects, milliseconds: performance.now() - start });
    return commit;
  }

  #written(table: FamilyTable): void {
    if (this.#closed) return;
    this.#watch.listen();
    if (table.hasLeftovers) this.#sweep ??= this.#clock.setTimer(SWEEP_AFTER_MS, () => this.#sweepAll());
  }

  #sweepAll(): void {
    this.#sweep = undefined;
    this.settle().catch(error => {
      this.#events.failed('removing chains that are no longer used', error);
      for (const family of this.#tables.keys()) this.#events.measured(family, { kind: 'cleanup-failed' });
    });
  }

  #noteDrift({ family: nft, what, sets }: Drift): void {
    const family = FAMILIES.find(name => layoutOf(name).nft === nft);
    if (!family) return;
    const known = this.#drifted.get(family);
    const both = known && (known.sets && sets ? new Set([...known.sets, ...sets]) : undefined);
    this.#drifted.set(family, known ? { what: known.what, sets: both } : { what, sets });
    this.#repairSoon();
  }

  #noteLoss(reason: string): void {
    for (const family of this.#tables.keys()) this.#drifted.set(family, { what: reason, sets: undefined });
    this.#repairSoon();
  }

  #repairSoon(): void {
    if (this.#closed || this.#repair) return;
    this.#repair = this.#clock.setTimer(this.#pauseBeforeRepair(), () => this.#repairAll());
  }

  #pauseBeforeRepair(): number {
    const now = this.#clock.elapsed();
    this.#repairs = this.#repairs.filter(time => now - time < LATELY_MS);
    if (this.#repairs.length < REPAIRS_AT_ONCE) {
      this.#repairPause = FIRST_REPAIR_PAUSE_MS;
      return 0;
    }
    this.#repairPause = Math.min(this.#repairPause * 2, LONGEST_REPAIR_PAUSE_MS);
    return this.#repairPause;
  }

  #repairAll(): void {
    this.#repair = undefined;
    this.#repairs.push(this.#clock.elapsed());
    const drifted = [...this.#drifted];
    this.#drifted.clear();
    for (const [family, drift] of drifted) this.#repairNow(family, drift);
  }

  #repairNow(family: Family, { what, sets }: Pick<Drift, 'what' | 'sets'>): void {
    this.#work
      .take(async () => {
        const table = this.#tables.get(family);
        if (!table || this.#closed) return;
        const written = await table.repair(sets);
        this.#written(table);
        if (written.length > 0) this.#events.driftRepaired(family, `${what}; ${summary(written)}`);
      })
      .catch(error => {
        this.#events.failed(`repairing the ${family} table`, error, family);
        this.#drifted.set(family, { what, sets: undefined });
        this.#repairSoon();
      });
  }
}

function sizeOf(transaction: Transaction): number {
  let size = 0;
  for (const { object } of transaction.commands) size += object.kind === 'elements' ? object.elements.length : 1;
  return size;
}

/** What a repair wrote, in a few words. */
function summary(written: readonly Transaction[]): string {
  const counts = new Map<string, number>();
  for (const { commands } of written) {
    for (const { verb, object } of commands) {
      const what = object.kind === 'elements' ? `element in ${object.set.name}` : object.kind.replace('-handle', '');
      const key = `${verb === 'add' ? 'added' : verb === 'flush' ? 'rewrote' : 'deleted'} ${what}`;
      counts.set(key, (counts.get(key) ?? 0) + (object.kind === 'elements' ? object.elements.length : 1));
    }
  }
  return [...counts].map(([what, count]) => `${what} ×${count}`).join(', ');
}
