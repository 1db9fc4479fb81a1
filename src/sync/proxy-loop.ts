import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { ServiceState } from '../model/index.ts';
import type { Mode } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { conflictProblems, type PlanSettings } from '../plan/index.ts';
import type { ObjectChange, SourceHandlers, SourceProblem } from '../source/index.ts';
import { BoundedFrequencyRunner } from './bounded-frequency-runner.ts';
import { type ModeSettingsInput, modeSettings } from './mode-settings.ts';
import { type FamilyChange, ProxyState } from './proxy-state.ts';

export interface ProxyOptions extends ModeSettingsInput {
  readonly nodeName: string;
  readonly settings: PlanSettings;
  readonly families: readonly Family[];
  readonly mode: Mode;
  readonly cleanStaleFlows: (family: Family, services: Iterable<ServiceState>) => Promise<number>;
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
  readonly clock?: Clock;
  readonly log: ProxyLog;
}

/** What the proxy has to tell. */
export interface ProxyLog {
  problem(problem: Partial<SourceProblem> & { readonly message: string }): void;
  recovered(where: string): void;
  synced(family: Family, ports: number, milliseconds: number): void;
  failed(what: string, error: unknown): void;
}

/** The longest time without looking whether there is something to do. */
const FULL_SYNC_PERIOD_MS = 3_600_000;

/** Drives the path: what a source says goes into the state, and what changed there is written by the mode. */
export class ProxyLoop implements SourceHandlers {
  readonly state: ProxyState;
  readonly #options: ProxyOptions;
  readonly #clock: Clock;
  readonly #runner: BoundedFrequencyRunner;
  readonly #waiting: (() => void)[] = [];
  #flows: Promise<unknown> = Promise.resolve();
  #synced = false;
  #pending = false;
  /** A sync is under way, or failed and will be tried again. */
  #running = false;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.state = new ProxyState({
      nodeName: options.nodeName,
      settings: options.settings,
      startedAt: this.#clock.now(),
      report: problem => options.log.problem(problem),
    });
    this.#runner = new BoundedFrequencyRunner({
      fn: () => this.#sync(),
      minInterval: options.minSyncPeriodMs,
      retryInterval: options.syncPeriodMs,
      maxInterval: FULL_SYNC_PERIOD_MS,
      onError: error => options.log.failed('sync', error),
      clock: this.#clock,
    });
  }

  service(change: ObjectChange<Service>): void {
    this.state.service(change);
    this.request();
  }

  endpointSlice(change: ObjectChange<EndpointSlice>): void {
    this.state.endpointSlice(change);
    this.request();
  }

  node(change: ObjectChange<Node>): void {
    this.state.node(change);
    this.request();
  }

  serviceCidr(change: ObjectChange<ServiceCIDR>): void {
    this.state.serviceCidr(change);
    this.request();
  }

  /** Nothing is written before all that exists is known, for what is not known yet would be taken for deleted. */
  synced(): void {
    this.#synced = true;
    this.#runner.start();
    this.request();
  }

  problem(problem: SourceProblem): void {
    this.#options.log.problem(problem);
  }

  recovered(where: string): void {
    this.#options.log.recovered(where);
  }

  /** Something may have changed. */
  request(): void {
    this.#pending = true;
    if (this.#synced) this.#runner.run();
  }

  /** Resolves when all that was told so far is written, and flows that became stale are gone. */
  async settled(): Promise<void> {
    if (this.#pending || this.#running) await new Promise<void>(resolve => this.#waiting.push(resolve));
    await this.#flows;
  }

  async close(): Promise<void> {
    if (this.#synced) await this.#runner.stop();
    await this.#flows;
    await this.#options.mode.close();
  }

  async #sync(): Promise<void> {
    this.#pending = false;
    this.#running = true;
    const changes = this.state.take();
    const errors: unknown[] = [];
    for (const family of this.#options.families) {
      try {
        await this.#syncFamily(family, changes[family]);
      } catch (error) {
        errors.push(error);
      }
    }
    this.#running = errors.length > 0;
    if (errors.length > 0) throw errors[0];
    if (!this.#pending) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #syncFamily(family: Family, { plans, model }: FamilyChange): Promise<void> {
    const start = performance.now();
    await this.#options.mode.sync(family, plans, modeSettings(this.state, family, this.#options));
    const changed = [...plans.added, ...plans.updated.map(({ to }) => to)];
    for (const problem of conflictProblems(changed)) this.#options.log.problem(problem);
    const ports = plans.added.length + plans.updated.length + plans.removed.length;
    this.#options.log.synced(family, ports, performance.now() - start);
    if (model.staleFlowsPossible) this.#cleanFlows(family);
  }

  /** Beside the syncs, which must not wait for it. */
  #cleanFlows(family: Family): void {
    const services = [...this.state.family(family).model.services()];
    this.#flows = this.#flows
      .then(() => this.#options.cleanStaleFlows(family, services))
      .catch(error => this.#options.log.failed('removing stale flows', error));
  }
}
