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

/**
 * A mode that removes what others left, but only when its own rules are there in every family: connections that are made
 * meanwhile find the old rules, the new ones or both, and all of them lead to endpoints.
 */
export class TakeOver implements Mode {
  readonly #mode: Mode;
  readonly #missing: Set<Family>;
  readonly #failed: (error: unknown) => void;
  readonly #removeOthers: () => Promise<void>;
  #removal: Promise<void> = Promise.resolve();

  constructor(
    mode: Mode,
    families: readonly Family[],
    failed: (error: unknown) => void,
    removeOthers: () => Promise<void>,
  ) {
    this.#mode = mode;
    this.#missing = new Set(families);
    this.#failed = failed;
    this.#removeOthers = removeOthers;
  }

  async sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    const report = await this.#mode.sync(family, plans, settings);
    if (this.#missing.delete(family) && this.#missing.size === 0) {
      this.#removal = this.#removeOthers().catch(this.#failed);
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
    await this.#removal;
    await this.#mode.close();
  }
}
