import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import type { Family } from '../net/index.ts';
import type { MetricSet } from '../observe/metrics/index.ts';
import type { EndedEndpoint, PlanDiff, ServicePortPlan } from '../plan/index.ts';
import type { Listing } from './listing.ts';
import type { Mode, ModeCondition, ModeSettings, SocketReading, SyncReport } from './mode.ts';
import type { KernelReading } from './read-back.ts';
import type { SetAside } from './set-aside.ts';
import type { ShellOptions } from './shell.ts';
import type { ServicePortTraffic } from './traffic/index.ts';

/** Removes what one other mode left. The signal aborts when the mode closes, so that it need not wait. */
export type Removal = (signal: AbortSignal) => Promise<void>;

const BACK_OFF = { firstMs: 30_000, maxMs: 3_600_000 };

/**
 * A mode that removes what other modes left, once its own rules exist in every family. Until then a new connection
 * meets the old rules, the new rules or both, and all of them lead to endpoints.
 */
export class TakeOver implements Mode {
  readonly #mode: Mode;
  readonly #missing: Set<Family>;
  readonly #removals: readonly Removal[];
  readonly #events: ShellOptions['events'];
  readonly #clock: Clock;
  #removal: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;
  /** The errors that were reported. A missing permission fails several removals, and every retry, in the same way. */
  readonly #reported = new Set<string>();
  readonly #backOff = new BackOff(BACK_OFF);
  readonly #closing = new AbortController();

  constructor(
    mode: Mode,
    families: readonly Family[],
    removals: readonly Removal[],
    { events, clock = systemClock }: ShellOptions,
  ) {
    this.#mode = mode;
    this.#missing = new Set(families);
    this.#removals = removals;
    this.#events = events;
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

  readBack(family: Family, plan: ServicePortPlan): Promise<KernelReading> {
    return this.#mode.readBack(family, plan);
  }

  listing(family: Family, plans: readonly ServicePortPlan[]): Promise<Listing> {
    return this.#mode.listing(family, plans);
  }

  async connectionCounts(): Promise<ReadonlyMap<string, number> | undefined> {
    return await this.#mode.connectionCounts?.();
  }

  async traffic(): Promise<readonly ServicePortTraffic[] | undefined> {
    return await this.#mode.traffic?.();
  }

  condition(): ModeCondition | undefined {
    return this.#mode.condition?.();
  }

  async endConnections(ended: readonly EndedEndpoint[]): Promise<ReadonlyMap<EndedEndpoint, number> | undefined> {
    return this.#mode.endConnections?.(ended);
  }

  async sockets(): Promise<SocketReading | undefined> {
    return await this.#mode.sockets?.();
  }

  registerMetrics(metrics: MetricSet): void {
    this.#mode.registerMetrics(metrics);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#retry?.cancel();
    await this.#removal;
    await this.#mode.close();
  }

  /** A removal that fails does not stop the others. The mode retries it: another program may hold the lock. */
  async #remove(removals: readonly Removal[]): Promise<void> {
    const left: Removal[] = [];
    for (const removal of removals) {
      try {
        await removal(this.#closing.signal);
      } catch (error) {
        this.#reportOnce(error);
        left.push(removal);
      }
    }
    if (left.length === 0 || this.#closing.signal.aborted) return;
    this.#retry = this.#clock.setTimer(this.#backOff.fail(), () => {
      this.#removal = this.#remove(left);
    });
  }

  #reportOnce(error: unknown): void {
    const text = errorText(error);
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#events.failed({ action: 'remove what another mode left', error });
  }
}
