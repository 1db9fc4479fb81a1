import { objectName } from '../api/index.ts';
import type { Facts } from '../explain/index.ts';
import type { Entry, EntryKind, Followed, History } from '../history/index.ts';
import { Breaks } from '../lib/breaks.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { historyRow } from './history.ts';
import { type Batch, historyBatch, rowsBatch } from './live-batch.ts';
import { LiveStates } from './live-states.ts';
import { type ListingContext, listingContext } from './services-context.ts';
import { type ServiceRow, serviceRow, unusableRow } from './services-row.ts';

/** Rows are computed at most this often. */
const PERIOD_MS = 250;
/** The first change after a pause waits a little, because its sync is about to end. */
const FIRST_MS = 50;
/** Readers ask for the lists at most this often. */
const RELIST_PERIOD_MS = 2000;
/** If more change at once, a list is cheaper. */
const MAX_SERVICES = 1000;
const MAX_ENTRIES = 1000;

/** After these, any Service may have changed. */
const GENERAL: ReadonlySet<EntryKind> = new Set(['listed', 'sync', 'changes', 'node', 'configuration']);

export interface RowFeedOptions {
  readonly clock: Clock;
  facts(): Facts;
  readonly history: History;
  connections(): ReadonlyMap<string, number> | undefined;
  onRows(batch: Batch<string>): void;
  onHistory(batch: Batch<number>): void;
  onRelist(): void;
  /** The facts could not be read. */
  onFailed(): void;
}

/** Follows the proxy, and computes the rows of the Services that changed. */
export class RowFeed {
  readonly #options: RowFeedOptions;
  readonly #states: LiveStates;
  readonly #end = new AbortController();
  #changed = new Set<string>();
  #entries = new Map<number, Entry>();
  #mustRelist = false;
  #lastRelist = Number.NEGATIVE_INFINITY;
  #lastRun = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isRunning = false;
  /** How many rows were computed. */
  computed = 0;

  constructor(options: RowFeedOptions) {
    this.#options = options;
    this.#states = new LiveStates(options.history);
    this.#states.start(options.facts());
    this.#end.signal.addEventListener(
      'abort',
      options.history.onArrival(service => this.#arrived(service)),
    );
    void this.#follow(options.history.follow(this.#end.signal));
  }

  close(): void {
    this.#end.abort();
    this.#timer?.cancel();
  }

  /** Looks for rows that changed without an event about their Service. */
  look(): void {
    const { services, isAll } = this.#states.look(this.#options.facts());
    for (const service of services) this.#serviceChanged(service);
    if (isAll) this.#relist();
  }

  async #follow(entries: AsyncIterable<Followed>): Promise<void> {
    for await (const followed of entries) {
      if ('missed' in followed) this.#relist();
      else this.#entryCompleted(followed);
    }
  }

  #entryCompleted(entry: Entry): void {
    if (this.#entries.size < MAX_ENTRIES) this.#entries.set(entry.id, entry);
    else this.#relist();
    if (GENERAL.has(entry.kind)) this.#relist();
    if (entry.service !== '') this.#serviceChanged(entry.service);
    this.#schedule();
  }

  #arrived(service: string): void {
    this.#states.arrived(service);
    this.#serviceChanged(service);
  }

  #serviceChanged(service: string): void {
    if (this.#changed.size < MAX_SERVICES || this.#changed.has(service)) this.#changed.add(service);
    else this.#relist();
    this.#schedule();
  }

  #relist(): void {
    this.#mustRelist = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer || this.#isRunning || this.#end.signal.aborted) return;
    const pause = Math.max(FIRST_MS, this.#lastRun + PERIOD_MS - this.#options.clock.elapsed());
    this.#timer = this.#options.clock.setTimer(pause, () => void this.#run().catch(() => this.#options.onFailed()));
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#isRunning = true;
    this.#lastRun = this.#options.clock.elapsed();
    this.look();
    this.#sendRelist();
    await this.#sendRows();
    await this.#sendHistory();
    this.#isRunning = false;
    if (this.#changed.size > 0 || this.#entries.size > 0 || this.#mustRelist) this.#schedule();
  }

  /** The lists have all changes so far. */
  #sendRelist(): void {
    const now = this.#options.clock.elapsed();
    if (!this.#mustRelist || now - this.#lastRelist < RELIST_PERIOD_MS) return;
    this.#lastRelist = now;
    this.#mustRelist = false;
    this.#changed.clear();
    this.#entries.clear();
    this.#states.start(this.#options.facts());
    this.#options.onRelist();
  }

  async #sendRows(): Promise<void> {
    if (this.#changed.size === 0) return;
    const changed = this.#changed;
    this.#changed = new Set();
    const { facts: read, history, connections } = this.#options;
    const facts = read();
    const context = listingContext(facts, history, connections(), {
      services: changed,
      problems: this.#states.problems(facts),
    });
    const texts = new Map<string, string | undefined>();
    const breaks = new Breaks();
    for (const key of changed) {
      const row = rowOf(key, facts, context);
      texts.set(key, row && JSON.stringify(row));
      this.computed++;
      if (breaks.isDue) await breaks.take();
    }
    if (!this.#end.signal.aborted) this.#options.onRows(rowsBatch(texts));
  }

  async #sendHistory(): Promise<void> {
    if (this.#entries.size === 0) return;
    const entries = this.#entries;
    this.#entries = new Map();
    const texts = new Map<number, string>();
    const breaks = new Breaks();
    for (const [id, entry] of entries) {
      texts.set(id, JSON.stringify(historyRow(entry)));
      if (breaks.isDue) await breaks.take();
    }
    if (!this.#end.signal.aborted) this.#options.onHistory(historyBatch(texts));
  }
}

function rowOf(key: string, { objects }: Facts, context: ListingContext): ServiceRow | undefined {
  const service = objects.service(key);
  return service ? serviceRow(service, context) : unusableRow(objectName(key), context);
}
