import type { Clock, Timer } from '../lib/clock.ts';
import { Repeater } from '../lib/repeater.ts';
import type { Family } from '../net/index.ts';
import type { ModeEvents } from './mode.ts';
import { RepairLimiter, type RepairLimits } from './repair-limiter.ts';
import type { Drift, DriftLook, Writer } from './writer.ts';

/** How often a mode looks for drift. A mode that the kernel notifies does not look. */
export interface DriftSchedule {
  readonly quickMs?: number | undefined;
  readonly thoroughMs?: number | 'sync-period' | undefined;
  /** A pause is at least this many times as long as the look before it: 20 limits looks to a twentieth of the time. */
  readonly pausePerLook?: number | undefined;
  readonly repairLimits?: RepairLimits | undefined;
}

export interface DriftLoopOptions {
  readonly clock: Clock;
  readonly events: ModeEvents;
  readonly schedule: DriftSchedule;
  readonly writers: () => Iterable<readonly [Family, Writer]>;
  /** Whether the family was ever written. Before that, what is missing is not drift. */
  isWritten(family: Family): boolean;
  /** Runs work while no write runs. */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** A repair has ended. */
  repaired(): void;
}

/** Finds out that another program changed what a mode wrote, and lets the writer repair it. */
export class DriftLoop {
  readonly #options: DriftLoopOptions;
  readonly #limiter: RepairLimiter;
  /** Drift that no repair has mended yet. */
  readonly #pending = new Map<Family, Drift>();
  readonly #looks = new Map<DriftLook, Repeater>();
  #timer: Timer | undefined;
  #repairs: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: DriftLoopOptions) {
    this.#options = options;
    this.#limiter = new RepairLimiter(options.clock, options.schedule.repairLimits);
  }

  /** Starts looking, or changes how often. */
  start(syncPeriodMs: number): void {
    const { quickMs, thoroughMs } = this.#options.schedule;
    this.#lookEvery('quick', quickMs);
    this.#lookEvery('thorough', thoroughMs === 'sync-period' ? syncPeriodMs : thoroughMs);
  }

  /** The kernel notified a writer of drift. */
  report(family: Family, drift: Drift): void {
    this.#pending.set(family, merged(this.#pending.get(family), drift));
    // Each call of `nextPauseMs` makes the next pause longer, so only a repair that is not planned yet asks for one.
    if (!this.#timer) this.#repairIn(this.#limiter.nextPauseMs());
  }

  /** Looks now, and repairs what it finds. */
  async look(look: DriftLook): Promise<void> {
    const { writers, isWritten } = this.#options;
    if (look === 'quick' && this.#limiter.isExhausted) return;
    for (const [family, writer] of writers()) {
      if (this.#closed) return;
      // A writer that must compare everything leaves that to the next sync, or to a thorough look.
      if (!isWritten(family) || (look === 'quick' && writer.isNextWriteFull)) continue;
      try {
        const drift = this.#pending.get(family) ?? (await writer.findDrift?.(look));
        if (!drift) continue;
        this.#pending.set(family, drift);
        if (!drift.isRoutine) this.#limiter.noteRepair();
        const wasWritten = await this.#repair(family, writer);
        if (drift.isRoutine && wasWritten) this.#limiter.noteRepair();
      } catch (error) {
        this.#fail(family, error);
      }
    }
  }

  /** Resolves when the looks and repairs that run have ended. */
  async idle(): Promise<void> {
    await Promise.all([this.#repairs, ...Array.from(this.#looks.values(), look => look.idle)]);
  }

  /** Resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await Promise.all(Array.from(this.#looks.values(), look => look.close()));
  }

  #lookEvery(look: DriftLook, periodMs: number | undefined): void {
    if (periodMs === undefined || this.#closed) return;
    const { clock, schedule } = this.#options;
    const known = this.#looks.get(look);
    if (known) known.setPeriod(periodMs);
    else this.#looks.set(look, new Repeater(clock, periodMs, () => this.look(look), schedule.pausePerLook));
  }

  #repairIn(milliseconds: number): void {
    if (this.#closed) return;
    this.#timer ??= this.#options.clock.setTimer(milliseconds, () => {
      this.#timer = undefined;
      this.#repairs = this.#repairPending();
    });
  }

  /** The repairs of several families count as one, because one change by another program often concerns all of them. */
  async #repairPending(): Promise<void> {
    if (this.#pending.size > 0) this.#limiter.noteRepair();
    for (const [family, writer] of this.#options.writers()) {
      try {
        await this.#repair(family, writer);
      } catch (error) {
        this.#fail(family, error);
        this.#repairIn(this.#limiter.pauseAfterFailureMs());
      }
    }
  }

  /** Returns whether the repair wrote something. */
  #repair(family: Family, writer: Writer): Promise<boolean> {
    const { turn, repaired, events } = this.#options;
    return turn(async () => {
      const drift = this.#pending.get(family);
      if (!drift || this.#closed) return false;
      // This comes before the repair, so that a change during the repair counts as new drift.
      this.#pending.delete(family);
      try {
        const written = await writer.repair(drift);
        repaired();
        if (written === undefined) return false;
        events.driftRepaired(family, { cause: drift.cause, written });
        return true;
      } catch (error) {
        this.#pending.set(family, { cause: drift.cause });
        throw error;
      }
    });
  }

  #fail(family: Family, error: unknown): void {
    this.#options.events.failed({ family, action: `repair the ${family} rules`, error, needsSync: true });
  }
}

function merged(known: Drift | undefined, drift: Drift): Drift {
  if (!known) return drift;
  const parts = known.parts && drift.parts ? new Set([...known.parts, ...drift.parts]) : undefined;
  return { cause: known.cause, parts };
}
