import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import type {
  FrontendConnections,
  Mode,
  ModeSettings,
  ServerStatistics,
  ServiceCounters,
  SetAside,
  StatisticsOptions,
  SyncReport,
} from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { PlanDiff } from '../plan/index.ts';

/** Removes what one other mode left. */
export type Removal = () => Promise<void>;

const BACK_OFF = { firstMs: 30_000, maxMs: 3_600_000 };

/**
 * A mode that removes what others left, but only when its own rules are there in every family: connections that are made
 * meanwhile find the old rules, the new ones or both, and all of them lead to endpoints.
 */
export class TakeOver implements Mode {
  readonly #mode: Mode;
  readonly #missing: Set<Family>;
  readonly #failed: (error: unknown) => void;
  readonly #removals: readonly Removal[];
  readonly #clock: Clock;
  #removal: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;
  readonly #backOff = new BackOff(BACK_OFF);
  #closed = false;

  constructor(
    mode: Mode,
    families: readonly Family[],
    failed: (error: unknown) => void,
    removals: readonly Removal[],
    clock: Clock = systemClock,
  ) {
    this.#mode = mode;
    this.#missing = new Set(families);
    this.#failed = failed;
    this.#removals = removals;
    this.#clock = clock;
  }

  async sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    const report = await this.#mode.sync(family, plans, settings);
    if (this.#missing.delete(family) && this.#missing.size === 0) {
      this.#removal = this.#remove(this.#removals);
    }
    return report;
  }

  setAside(): readonly SetAside[] {
    return this.#mode.setAside();
  }

  async *connections(): AsyncGenerator<FrontendConnections> {
    if (this.#mode.connections) yield* this.#mode.connections();
  }

  counters(): readonly ServiceCounters[] {
    return this.#mode.counters?.() ?? [];
  }

  async statistics(options: StatisticsOptions): Promise<ServerStatistics | undefined> {
    return this.#mode.statistics?.(options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.cancel();
    await this.#removal;
    await this.#mode.close();
  }

  /** One that fails keeps no other, and is tried again at growing intervals: another program may have had the lock. */
  async #remove(removals: readonly Removal[]): Promise<void> {
    const left: Removal[] = [];
    for (const removal of removals) {
      try {
        await removal();
      } catch (error) {
        this.#failed(error);
        left.push(removal);
      }
    }
    if (left.length === 0 || this.#closed) return;
    this.#retry = this.#clock.setTimer(this.#backOff.fail(), () => {
      this.#removal = this.#remove(left);
    });
  }
}
