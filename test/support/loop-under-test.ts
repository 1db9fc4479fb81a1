import type { Mode, ModeSettings } from '../../src/modes/index.ts';
import type { Family } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS, planName } from '../../src/plan/index.ts';
import type { ProgrammedVersions } from '../../src/proxy/programmed-versions.ts';
import { type LoopListener, ProxyLoop, type ProxyOptions, type SyncFailure } from '../../src/proxy/proxy-loop.ts';
import { ManualClock } from './manual-clock.ts';

export const RETRY = 5000;

/** A loop whose mode and machine can be made to fail. */
export class LoopUnderTest {
  readonly clock = new ManualClock();
  readonly errors: string[] = [];
  readonly synced: string[] = [];
  flowsCleaned = 0;
  /** Replaces the search for stale flows. */
  cleanStaleFlows: ProxyOptions['cleanStaleFlows'] = async () => ++this.flowsCleaned;
  /** What the mode does during a sync, before it succeeds or fails. */
  duringSync: () => Promise<void> = async () => {};
  /** Thrown by syncs that fail. */
  error: Error = new Error('refused');
  readonly failures: SyncFailure[] = [];
  readonly settings: ModeSettings[] = [];
  isModeClosed = false;
  /** What the loop reported of each family. */
  readonly reports: string[] = [];
  /** The part that fails now. */
  failing: 'mode' | 'addresses' | Family | undefined;
  /** What the loop has written, if a test asks for it. */
  programmed: ProgrammedVersions | undefined;
  readonly loop: ProxyLoop;

  constructor(families: readonly Family[] = ['IPv4']) {
    const nothing = () => {};
    const listener: LoopListener = {
      problem: nothing,
      recovered: nothing,
      queued: family => this.reports.push(`${family} queued`),
      syncStarted: nothing,
      allTaken: () => this.programmed?.allTaken(),
      allWritten: () => this.programmed?.allWritten(),
      synced: family => this.reports.push(`${family} synced`),
      syncFailed: (family, failure) => {
        this.failures.push(failure);
        this.reports.push(`${family} failed`);
        this.errors.push(`sync: ${failure.error}`);
      },
      failed: (action, error) => this.errors.push(`${action}: ${error}`),
    };
    const mode: Mode = {
      sync: async (family, { added, removed }, settings) => {
        this.settings.push(settings);
        this.synced.push(...added.map(plan => `+${planName(plan)}`), ...removed.map(plan => `-${planName(plan)}`));
        await this.duringSync();
        if (this.failing === 'mode' || this.failing === family) throw this.error;
        return { full: false };
      },
      setAside: () => [],
      readBack: async () => ({ entries: [], affinity: [] }),
      listing: async () => ({ blocks: [] }),
      registerMetrics: () => {},
      close: async () => {
        this.isModeClosed = true;
      },
    };
    this.loop = new ProxyLoop({
      nodeName: 'node-a',
      families,
      mode,
      settings: DEFAULT_PLAN_SETTINGS,
      nodePortAddresses: ['192.168.0.0/24'],
      masqueradeBit: 14,
      intervals: { minInterval: 0, retryInterval: RETRY, maxInterval: 60_000 },
      interfaceIPs: () => {
        if (this.failing === 'addresses') throw new Error('interrupted');
        return [];
      },
      cleanStaleFlows: (family, services) => this.cleanStaleFlows(family, services),
      clock: this.clock,
      listener,
    });
  }
}
