import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import type { Feedback } from '../feedback/index.ts';
import type { Change } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import type { ModelDiff, ServiceState } from '../model/index.ts';
import { type Mode, type ModeSettings, SyncError, type SyncReport } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { conflictProblems, type PlanDiff, type PlanSettings } from '../plan/index.ts';
import type { SourceHandlers } from '../source/index.ts';
import { BoundedFrequencyRunner, type Intervals } from './bounded-frequency-runner.ts';
import { type ModeSettingsInput, modeSettings } from './mode-settings.ts';
import { type NoLocalEndpointCounts, NoLocalEndpoints } from './no-local-endpoints.ts';
import { type FamilyDiff, ProxyState } from './proxy-state.ts';
import { StaleFlowSearches } from './stale-flow-searches.ts';
import type { BalancingMode } from './unavailable-balance.ts';

export interface ProxyOptions extends LiveSettings {
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly mode: Mode;
  /** What the mode can do. Without it, the loop does not report Services that ask for something else. */
  readonly configured?: BalancingMode | undefined;
  readonly cleanStaleFlows: (family: Family, services: Iterable<ServiceState>) => Promise<number>;
  readonly clock?: Clock;
  /** What the proxy learns about endpoints while it runs. */
  readonly feedback?: Feedback | undefined;
  readonly listener: LoopListener;
}

/** The settings that may change while a proxy runs. */
export interface LiveSettings extends ModeSettingsInput {
  readonly settings: PlanSettings;
  readonly intervals: Intervals;
}

export interface SyncedReport extends SyncReport {
  /** How many service ports were added, updated or removed. */
  readonly servicePorts: number;
  readonly milliseconds: number;
  /** When the changes happened that the sync wrote, by Service, in milliseconds since 1970. */
  readonly triggerTimes: ReadonlyMap<string, readonly number[]>;
}

export interface SyncFailure extends SyncReport {
  readonly error: unknown;
  readonly milliseconds: number;
}

/** What receives the loop's reports. */
export interface LoopListener {
  problem(problem: Problem): void;
  /** A Service, named `ns/name`, begins to ask for an algorithm that the mode does not have. */
  balanceUnavailable?(service: string, reason: string): void;
  recovered(where: string): void;
  /** There is something to write. */
  queued(family: Family): void;
  syncStarted(family: Family): void;
  /** A run of syncs has taken all changes that have come so far. */
  allTaken?(): void;
  /** The kernel has all changes that the last run of syncs took. */
  allWritten?(): void;
  /** The next write is about these changes. */
  changesTaken?(family: Family, diff: ModelDiff, plans: PlanDiff): void;
  synced(family: Family, report: SyncedReport): void;
  /** The loop retries the sync. */
  syncFailed(family: Family, failure: SyncFailure): void;
  /** The loop could not do something else, and goes on. `action` has a verb: `remove stale flows`. */
  failed(action: string, error: unknown): void;
}

/** Makes the runner retry a sync. The loop has reported the failure already. */
class SyncFailed extends Error {}

/** Drives the path from the objects to the kernel: a source changes the state, and the mode writes the changes. */
export class ProxyLoop implements SourceHandlers {
  readonly state: ProxyState;
  readonly #options: ProxyOptions;
  readonly #clock: Clock;
  readonly #runner: BoundedFrequencyRunner;
  readonly #waiting: (() => void)[] = [];
  readonly #noLocalEndpoints = { IPv4: new NoLocalEndpoints(), IPv6: new NoLocalEndpoints() };
  #live: LiveSettings;
  /** Families that may have stale flows. The next sync of the family that succeeds is followed by a search for them. */
  readonly #staleFlows = new Set<Family>();
  readonly #searches: StaleFlowSearches;
  #synced = false;
  /** Families that need a sync. */
  readonly #wanted = new Set<Family>();
  /** A sync runs, or the last one failed and the loop will retry it. */
  #running = false;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#live = options;
    this.#clock = options.clock ?? systemClock;
    this.state = new ProxyState({
      nodeName: options.nodeName,
      families: options.families,
      settings: options.settings,
      startedAt: this.#clock.now(),
      report: problem => options.listener.problem(problem),
      mode: options.configured,
      unavailable: (service, reason) => options.listener.balanceUnavailable?.(service, reason),
      feedback: options.feedback,
    });
    this.#searches = new StaleFlowSearches(
      family => options.cleanStaleFlows(family, [...this.state.family(family).model.services()]),
      error => options.listener.failed('remove stale flows', error),
    );
    this.#runner = new BoundedFrequencyRunner({
      ...options.intervals,
      fn: () => this.#sync(),
      onError: error => {
        if (!(error instanceof SyncFailed)) options.listener.failed('sync', error);
      },
      clock: this.#clock,
    });
  }

  serviceChanged(change: Change<Service>): void {
    this.state.serviceChanged(change);
    this.#requestIfPending();
  }

  endpointSliceChanged(change: Change<EndpointSlice>): void {
    this.state.endpointSliceChanged(change);
    this.#requestIfPending();
  }

  nodeChanged(change: Change<Node>): void {
    if (this.state.nodeChanged(change)) this.request();
  }

  serviceCidrChanged(change: Change<ServiceCIDR>): void {
    this.state.serviceCidrChanged(change);
    this.request();
  }

  /** The source has delivered all objects. An earlier sync would delete the rules of objects that are still missing. */
  synced(): void {
    this.#synced = true;
    this.#runner.start();
    this.request();
  }

  problem(problem: Problem): void {
    this.#options.listener.problem(problem);
  }

  recovered(where: string): void {
    this.#options.listener.recovered(where);
  }

  /** Applies settings that the operator changed while the proxy runs. */
  configure(live: LiveSettings): void {
    this.#live = live;
    this.state.setSettings(live.settings);
    this.#runner.setIntervals(live.intervals);
    this.request();
  }

  get live(): LiveSettings {
    return this.#live;
  }

  get families(): readonly Family[] {
    return this.#options.families;
  }

  /** Some changes that the loop has received are not written yet. */
  get isPending(): boolean {
    return this.#wanted.size > 0 || this.#running;
  }

  noLocalEndpoints(family: Family): NoLocalEndpointCounts {
    return this.#noLocalEndpoints[family].counts;
  }

  /** Requests a sync of these families, because something may have changed. */
  request(families: readonly Family[] = this.#options.families): void {
    for (const family of families) this.#wanted.add(family);
    if (!this.#synced) return;
    for (const family of families) this.#options.listener.queued(family);
    this.#runner.run();
  }

  /** Resolves when all changes that the loop has received are written, and stale flows are gone. */
  async settled(): Promise<void> {
    if (this.isPending) await new Promise<void>(resolve => this.#waiting.push(resolve));
    await this.#searches.finished();
  }

  async close(): Promise<void> {
    if (this.#synced) await this.#runner.stop();
    await this.#searches.finished();
    await this.#options.mode.close();
  }

  #requestIfPending(): void {
    const families = this.#options.families.filter(family => this.state.family(family).model.hasPending);
    if (families.length > 0) this.request(families);
  }

  async #sync(): Promise<void> {
    this.#running = true;
    // Without a request, this is the periodic sync of all families.
    const families = this.#options.families.filter(family => this.#wanted.size === 0 || this.#wanted.has(family));
    // This may fail, so it comes before `takeFamily`, which returns each change only once.
    const settings = new Map(families.map(family => [family, this.#settings(family)]));
    this.#wanted.clear();
    const changes = families.map(family => ({ family, change: this.state.takeFamily(family) }));
    this.#options.listener.allTaken?.();
    const failed: Family[] = [];
    for (const { family, change } of changes) {
      const own = settings.get(family);
      if (own && !(await this.#syncFamily(family, change, own))) failed.push(family);
    }
    this.#running = failed.length > 0;
    for (const family of failed) this.#wanted.add(family);
    if (failed.length > 0) throw new SyncFailed();
    this.#options.listener.allWritten?.();
    if (this.#wanted.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #settings(family: Family): ModeSettings {
    const syncPeriodMs = this.#live.intervals.retryInterval;
    return { ...modeSettings(this.state, family, this.#live), syncPeriodMs };
  }

  async #syncFamily(family: Family, { plans, model }: FamilyDiff, settings: ModeSettings): Promise<boolean> {
    const { mode, listener } = this.#options;
    const start = performance.now();
    listener.syncStarted(family);
    listener.changesTaken?.(family, model, plans);
    this.#noLocalEndpoints[family].apply(plans);
    if (model.staleFlowsPossible) this.#staleFlows.add(family);
    try {
      const { full } = await mode.sync(family, plans, settings);
      const changed = [...plans.added, ...plans.updated.map(({ to }) => to)];
      for (const problem of conflictProblems(changed)) listener.problem(problem);
      const servicePorts = plans.added.length + plans.updated.length + plans.removed.length;
      const { triggerTimes } = model;
      listener.synced(family, { full, servicePorts, milliseconds: performance.now() - start, triggerTimes });
    } catch (error) {
      const full = !(error instanceof SyncError) || error.full;
      listener.syncFailed(family, { full, error, milliseconds: performance.now() - start });
      return false;
    }
    if (this.#staleFlows.delete(family)) this.#searches.request(family);
    return true;
  }
}
