import { KernelError } from '../kernel/errors.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { Turns } from '../lib/turns.ts';
import type { Family } from '../net/index.ts';
import type { MetricSet } from '../observe/metrics/index.ts';
import type { PlanDiff, ServicePortPlan } from '../plan/index.ts';
import { DriftLoop, type DriftSchedule } from './drift-loop.ts';
import { emptyListing, type Listing } from './listing.ts';
import {
  type MeasureObserver,
  type Mode,
  type ModeEvents,
  type ModeSettings,
  SYNC_PERIOD_MS,
  SyncError,
  type SyncReport,
} from './mode.ts';
import { PlanBook } from './plan-book.ts';
import { emptyReading, type KernelReading, readTwiceAtMost } from './read-back.ts';
import type { SetAside } from './set-aside.ts';
import type { FamilyPlan } from './traffic/index.ts';
import type { Drift, DriftLook, Writer } from './writer.ts';

export interface ShellOptions {
  readonly clock?: Clock | undefined;
  readonly events: ModeEvents;
}

interface OpenFamily<W> {
  readonly writer: W;
  readonly book: PlanBook;
  settings: ModeSettings;
  /** A write has succeeded. */
  isWritten: boolean;
}

/** Several changes of the machine often come together. One write serves them all. */
const WRITE_SOON_MS = 30;

/**
 * What all modes have in common: taking turns, opening a family, keeping changes of plans until a writer has them, full
 * and partial syncs, the list of what is set aside, looking for drift, repairs, leftovers, measurements. A mode adds a
 * writer for one family.
 */
export abstract class ModeShell<W extends Writer> implements Mode {
  protected readonly events: ModeEvents;
  protected readonly clock: Clock;
  readonly #families = new Map<Family, OpenFamily<W>>();
  /** Each diff comes only once, so a sync that fails before a writer has it must not lose it. */
  readonly #untaken = new Map<Family, PlanDiff[]>();
  readonly #turns = new Turns();
  readonly #drift: DriftLoop;
  #observe: MeasureObserver = () => {};
  #leftovers: Timer | undefined;
  #writeSoon: Timer | undefined;
  #closed = false;
  #isWorking = false;
  #endedWork = 0;

  constructor({ clock = systemClock, events }: ShellOptions, schedule: DriftSchedule = {}) {
    this.clock = clock;
    this.events = {
      ...events,
      measured: (family, measure) => {
        events.measured(family, measure);
        this.#observe(family, measure);
      },
    };
    this.#drift = new DriftLoop({
      clock,
      events: this.events,
      schedule,
      writers: () => this.writers,
      isWritten: family => this.#families.get(family)?.isWritten === true,
      turn: work => this.turn(work),
      repaired: () => this.#afterWrite(),
    });
  }

  /** Registers metrics that only this mode has. Returns what updates them. */
  protected abstract createMetrics(metrics: MetricSet): MeasureObserver;

  /** Opens the writer of a family. It runs in a turn. */
  protected abstract open(family: Family, settings: ModeSettings, book: PlanBook): Promise<W> | W;

  /** Called after each write, repair and removal of leftovers. */
  protected afterWrite(): void {}

  /** Stops watching the kernel. */
  protected stopWatching(): void {}

  /** Closes what the families share. `idle` resolves when no work runs any more. */
  protected abstract release(idle: Promise<void>): Promise<void>;

  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    this.#keep(family, plans);
    return this.turn(async () => {
      const { writer, full } = await this.#prepare(family, settings);
      return { full: await this.#write(family, writer, full) };
    });
  }

  registerMetrics(metrics: MetricSet): void {
    this.#observe = this.createMetrics(metrics);
  }

  setAside(): readonly SetAside[] {
    return [...this.#families.values()].flatMap(({ book }) => book.setAside());
  }

  async readBack(family: Family, plan: ServicePortPlan): Promise<KernelReading> {
    const writer = this.#families.get(family)?.writer;
    if (this.#closed) return emptyReading('the mode is closed');
    if (!writer) return emptyReading(`the mode has written nothing for ${family} yet`);
    const stamp = () => (writer.changeStamp ? writer.changeStamp() : this.#workStamp);
    try {
      return await readTwiceAtMost(stamp, () => writer.readBack(plan));
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      return emptyReading(`the mode could not read the kernel: ${errorText(error)}`);
    }
  }

  async listing(family: Family, plans: readonly ServicePortPlan[]): Promise<Listing> {
    const writer = this.#families.get(family)?.writer;
    if (this.#closed) return emptyListing('the mode is closed');
    return writer ? writer.listing(plans) : emptyListing(`the mode has written nothing for ${family} yet`);
  }

  /** Waits until all work has ended, and removes leftovers. */
  async settle(): Promise<void> {
    await this.#drift.idle();
    await this.turn(() => this.#removeLeftovers());
  }

  /** Looks for drift now rather than later, and repairs it. */
  async lookForDrift(look: DriftLook = 'thorough'): Promise<void> {
    await this.#drift.look(look);
    await this.#turns.done;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#leftovers?.cancel();
    this.#writeSoon?.cancel();
    this.stopWatching();
    const looksEnded = this.#drift.close();
    const idle = looksEnded.then(() => this.#turns.done).then(() => {});
    await this.release(idle);
  }

  protected get isClosed(): boolean {
    return this.#closed;
  }

  protected get writers(): ReadonlyMap<Family, W> {
    return new Map(Array.from(this.#families, ([family, { writer }]) => [family, writer]));
  }

  /** The wanted plans of all families. They may change while the caller goes through them with breaks. */
  protected *plans(): Generator<FamilyPlan> {
    for (const [family, { book }] of this.#families) for (const plan of book.wanted()) yield [family, plan];
  }

  /** Runs work while no other work of the mode runs. */
  protected turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      this.#isWorking = true;
      try {
        return await work();
      } finally {
        this.#isWorking = false;
        this.#endedWork++;
      }
    });
  }

  /** As `turn`, for work that changes nothing. Readings of the kernel stay exact while it runs. */
  protected turnWithoutChange<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  /** While work runs, no two stamps are equal. */
  get #workStamp(): unknown {
    return this.#isWorking ? Symbol('working') : this.#endedWork;
  }

  /** The kernel notified the mode of drift. */
  protected reportDrift(family: Family, drift: Drift): void {
    if (this.#families.has(family)) this.#drift.report(family, drift);
  }

  /** Something on this machine changed that writers depend on: all write again, with the settings that they have. */
  protected writeSoon(): void {
    if (this.#closed || this.#families.size === 0) return;
    this.#writeSoon ??= this.clock.setTimer(WRITE_SOON_MS, () => {
      this.#writeSoon = undefined;
      void this.turn(() => this.#writeAgain());
    });
  }

  /** Opens the family, and hands it the plans and settings. Whatever fails here fails a full sync. */
  async #prepare(family: Family, settings: ModeSettings): Promise<{ readonly writer: W; readonly full: boolean }> {
    try {
      const open = this.#families.get(family) ?? (await this.#open(family, settings));
      for (const plans of this.#untaken.get(family) ?? []) {
        open.book.take(plans);
        open.writer.takePlans?.(plans);
      }
      this.#untaken.delete(family);
      open.settings = settings;
      open.writer.takeSettings(settings);
      return { writer: open.writer, full: open.writer.isNextWriteFull };
    } catch (error) {
      throw new SyncError(true, error);
    }
  }

  async #open(family: Family, settings: ModeSettings): Promise<OpenFamily<W>> {
    const book = new PlanBook(family, port => this.events.setAside(port));
    const opened = { writer: await this.open(family, settings, book), book, settings, isWritten: false };
    this.#families.set(family, opened);
    return opened;
  }

  /** Returns whether the write was a full one. */
  async #write(family: Family, writer: W, isFull: boolean): Promise<boolean> {
    let full = isFull;
    try {
      while ((await writer.write()) === 'needs-full-write') {
        if (full) throw new Error('the kernel differs from what was written, even after a full write');
        full = true;
      }
      const open = this.#families.get(family);
      if (open) open.isWritten = true;
      this.#afterWrite();
    } catch (error) {
      this.events.measured(family, { kind: 'refused', full });
      throw new SyncError(full, error);
    }
    return full;
  }

  async #writeAgain(): Promise<void> {
    for (const [family, { writer, settings }] of this.#families) {
      if (this.#closed || writer.isNextWriteFull) continue;
      try {
        writer.takeSettings(settings);
        await this.#write(family, writer, false);
      } catch (error) {
        this.events.failed({ family, action: `write the ${family} rules again`, error, needsSync: true });
      }
    }
  }

  #afterWrite(): void {
    if (this.#closed) return;
    this.afterWrite();
    const periods = Array.from(this.#families.values(), ({ settings }) => settings.syncPeriodMs ?? SYNC_PERIOD_MS);
    this.#drift.start(Math.min(...periods));
    const due = [...this.#families.values()].flatMap(({ writer }) => writer.leftoversDueMs ?? []);
    if (due.length === 0) return;
    this.#leftovers ??= this.clock.setTimer(Math.min(...due), () => {
      this.#leftovers = undefined;
      void this.turn(() => this.#removeLeftovers());
    });
  }

  /** If the removal fails, the leftovers stay until the next write. */
  async #removeLeftovers(): Promise<void> {
    let failures = 0;
    for (const [family, { writer }] of this.#families) {
      if (writer.leftoversDueMs === undefined) continue;
      try {
        await writer.removeLeftovers?.();
      } catch (error) {
        failures++;
        this.events.failed({ family, action: `remove ${family} leftovers`, error });
        this.events.measured(family, { kind: 'cleanup-failed' });
      }
    }
    try {
      if (failures === 0) this.#afterWrite();
      else if (!this.#closed) this.afterWrite();
    } catch (error) {
      for (const family of this.#families.keys()) {
        this.events.failed({ family, action: `watch the ${family} rules`, error, needsSync: true });
      }
    }
  }

  #keep(family: Family, plans: PlanDiff): void {
    const untaken = this.#untaken.get(family);
    if (untaken) untaken.push(plans);
    else this.#untaken.set(family, [plans]);
  }
}
