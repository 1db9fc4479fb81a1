import type { EjectionReport } from '../feedback/index.ts';
import type { Clock } from '../lib/clock.ts';
import {
  type ConfiguredMode,
  createMode,
  DEFAULT_MODE,
  type EndReport,
  type Mode,
  type ModeEvents,
  type ModeMachine,
  NodeAddresses,
  SYNC_PERIOD_MS,
} from '../modes/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { EndedEndpoint, Flow, PlanSettings } from '../plan/index.ts';
import type { Intervals } from './bounded-frequency-runner.ts';
import { type LiveSettings, type LoopListener, ProxyLoop } from './proxy-loop.ts';
import { createEnds, createFeedback, createFlowCleaning, type PartsContext } from './proxy-parts.ts';

/** The part of the configuration that may change while the proxy runs. */
export interface LiveConfig {
  readonly settings: PlanSettings;
  readonly nodePortAddresses: readonly string[];
  /** The bit of the packet mark that asks for masquerading. */
  readonly masqueradeBit: number;
  readonly intervals: Intervals;
}

export interface ProxyConfig extends ModeMachine {
  readonly nodeName: string;
  /** The families that this machine can serve. The default is both. */
  readonly families?: readonly Family[] | undefined;
  readonly live: LiveConfig;
  readonly mode?: ConfiguredMode | undefined;
  /** Paths of network namespaces that may have clients of endpoints that are gone. The default is all of the machine. */
  readonly clientNamespaces?: (() => Iterable<string>) | undefined;
  /** The clock of slow start, least connections and ejection. Tests let its time pass. */
  readonly feedbackClock?: Clock | undefined;
}

/** What receives the proxy's reports. */
export interface ProxyListeners {
  readonly loop: LoopListener;
  readonly mode: ModeEvents;
  /** The proxy looks for stale flows. */
  staleFlowSearchStarted?(family: Family): void;
  /** The kernel is about to forget this flow. */
  staleFlowFound?(family: Family, flow: Flow): void;
  /** The proxy looked for stale flows. */
  staleFlowsCleaned(family: Family, deleted: number, milliseconds: number): void;
  /** An endpoint is left out because connections failed, or it is used again. */
  ejectionChanged?(report: EjectionReport): void;
  /** The kernel dropped events about connections, because the proxy did not read them fast enough. */
  connectionEventsLost?(): void;
  /** The proxy ended the TCP connections of endpoints that are gone, because their Services ask for it. */
  connectionsEnded?(family: Family, report: EndReport, milliseconds: number): void;
  /** The proxy could not end the connections of these endpoints. */
  connectionsNotEnded?(family: Family, ended: readonly EndedEndpoint[], error: unknown): void;
}

/** A proxy with all its parts. A source feeds its loop. */
export interface RunningProxy {
  readonly loop: ProxyLoop;
  readonly mode: Mode;
  /** The settings of its loop. */
  readonly live: LiveSettings;
  configure(live: LiveConfig): void;
  /** Stops. What is programmed stays. */
  close(): Promise<void>;
}

/** The default of the configuration. */
export const MASQUERADE_BIT = 14;
const MIN_SYNC_PERIOD_MS = 1000;
/** With the default period, syncs take at most a fifth of the time, however much changes. */
const REST_PER_SYNC = 4;
/** The proxy syncs at least this often. */
const FULL_SYNC_PERIOD_MS = 3_600_000;

/**
 * How often the proxy syncs, and when it retries a failed sync. The default of minSyncPeriod is the longest rest between
 * two syncs, because a sync takes milliseconds. Any other period is what the operator wants, and is kept.
 */
export function syncIntervals(minSyncPeriodMs = MIN_SYNC_PERIOD_MS, syncPeriodMs = SYNC_PERIOD_MS): Intervals {
  return {
    minInterval: minSyncPeriodMs,
    ...(minSyncPeriodMs === MIN_SYNC_PERIOD_MS && { restPerRun: REST_PER_SYNC }),
    retryInterval: syncPeriodMs,
    maxInterval: Math.max(FULL_SYNC_PERIOD_MS, minSyncPeriodMs),
  };
}

export function createProxy(config: ProxyConfig, listeners: ProxyListeners): RunningProxy {
  const {
    namespace,
    programs,
    socketScope,
    formerCgroupRoot,
    families = FAMILIES,
    mode: configured = DEFAULT_MODE,
  } = config;
  const { descriptor } = configured;
  const events: ModeEvents = {
    ...listeners.mode,
    failed(failure) {
      listeners.mode.failed(failure);
      // The proxy is not healthy until a sync has succeeded.
      if (failure.needsSync && failure.family) loop.request([failure.family]);
    },
  };
  const mode = createMode(configured, families, { namespace, programs, socketScope, formerCgroupRoot, events });
  const addresses = new NodeAddresses(
    namespace,
    () => loop.request(),
    error => listeners.loop.failed("watch the node's addresses", error),
    { exceptLink: descriptor.link },
  );
  const settingsOf = (live: LiveConfig): LiveSettings => ({ ...live, interfaceIPs: () => addresses.list() });
  let live = settingsOf(config.live);
  /** Families that are not synced yet. */
  const unsynced = new Set<Family>(families);
  const context: PartsContext = {
    config,
    listeners,
    mode,
    descriptor,
    loop: () => loop,
    allowsExternalIPs: () => live.settings.allowExternalIPs,
  };
  const feedback = createFeedback(context);
  const { ends, ender } = createEnds(context);
  const { cleaner, lostAttempts, cleanStaleFlows } = createFlowCleaning(context);
  const loop = new ProxyLoop({
    ...live,
    feedback,
    nodeName: config.nodeName,
    families,
    mode,
    configured,
    cleanStaleFlows,
    listener: {
      ...listeners.loop,
      changesTaken(family, diff, plans) {
        listeners.loop.changesTaken?.(family, diff, plans);
        ends.changesTaken(family, diff);
      },
      synced(family, sync) {
        listeners.loop.synced(family, sync);
        ends.synced(family);
        if (unsynced.delete(family) && !descriptor.removesStaleFlows) lostAttempts.request(family);
      },
    },
  });
  return {
    loop,
    mode,
    get live() {
      return live;
    },
    configure(next) {
      live = settingsOf(next);
      loop.configure(live);
    },
    async close() {
      addresses.close();
      await feedback.close();
      await ends.close();
      await loop.close();
      await lostAttempts.finished();
      cleaner.close();
      ender.close();
    },
  };
}
