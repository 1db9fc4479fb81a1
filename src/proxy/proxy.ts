import type { NetworkNamespace } from '../kernel/netns.ts';
import { type Mode, type ModeEvents, NodeAddresses, StaleFlowCleaner, SYNC_PERIOD_MS } from '../modes/index.ts';
import { DEVICE, type IpvsConfig } from '../modes/ipvs/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { PlanSettings } from '../plan/index.ts';
import type { Intervals } from './bounded-frequency-runner.ts';
import { createMode, type IptablesConfig, type ProxyMode, type UserspaceConfig } from './create-mode.ts';
import { type LiveSettings, type LoopListener, ProxyLoop } from './proxy-loop.ts';

/** What of a proxy's configuration may change while it runs. */
export interface LiveConfig {
  readonly settings: PlanSettings;
  readonly nodePortAddresses: readonly string[];
  /** The bit of the packet mark that asks for masquerading. */
  readonly masqueradeBit: number;
  readonly intervals: Intervals;
}

export interface ProxyConfig {
  readonly nodeName: string;
  /** Those that this machine can serve; both if not given. */
  readonly families?: readonly Family[] | undefined;
  readonly live: LiveConfig;
  /** Have the kernel count new connections, where the mode can. */
  readonly countConnections?: boolean | undefined;
  readonly namespace?: NetworkNamespace | undefined;
  /** nftables unless told. */
  readonly mode?: ProxyMode | undefined;
  /** For iptables mode. */
  readonly iptables?: IptablesConfig | undefined;
  /** For ipvs mode. */
  readonly ipvs?: IpvsConfig | undefined;
  /** For userspace mode. */
  readonly userspace?: UserspaceConfig | undefined;
}

/** Who hears of what the proxy does. */
export interface ProxyListeners {
  readonly loop: LoopListener;
  readonly mode: ModeEvents;
  /** Flows to endpoints that are gone were looked for. */
  staleFlowsCleaned(family: Family, deleted: number, milliseconds: number): void;
}

/** A proxy with all its parts. A source is handed its loop. */
export interface RunningProxy {
  readonly loop: ProxyLoop;
  readonly mode: Mode;
  /** The settings that its loop has. */
  readonly live: LiveSettings;
  configure(live: LiveConfig): void;
  /** What is programmed stays. */
  close(): Promise<void>;
}

/** Unless configured otherwise. */
export const MASQUERADE_BIT = 14;
const MIN_SYNC_PERIOD_MS = 1000;
/** The longest time without looking whether there is something to do. */
const FULL_SYNC_PERIOD_MS = 3_600_000;

/** How often syncs are made, and when one that failed is tried again. */
export function syncIntervals(minSyncPeriodMs = MIN_SYNC_PERIOD_MS, syncPeriodMs = SYNC_PERIOD_MS): Intervals {
  return {
    minInterval: minSyncPeriodMs,
    retryInterval: syncPeriodMs,
    maxInterval: Math.max(FULL_SYNC_PERIOD_MS, minSyncPeriodMs),
  };
}

export function createProxy(config: ProxyConfig, listeners: ProxyListeners): RunningProxy {
  const { namespace, families = FAMILIES } = config;
  const mode = createMode(
    { ...config, families },
    {
      ...listeners.mode,
      failed(what, error, unwritten) {
        listeners.mode.failed(what, error, unwritten);
        // Until a sync has succeeded the proxy is behind, and its health says so.
        if (unwritten) loop.request([unwritten]);
      },
    },
  );
  const cleaner = new StaleFlowCleaner(namespace);
  const addresses = new NodeAddresses(
    namespace,
    () => loop.request(),
    error => listeners.loop.failed("watching the node's addresses", error),
    { exceptLink: config.mode === 'ipvs' ? DEVICE : undefined },
  );
  const settingsOf = (live: LiveConfig): LiveSettings => ({ ...live, interfaceIPs: () => addresses.list() });
  let live = settingsOf(config.live);
  const loop = new ProxyLoop({
    ...live,
    nodeName: config.nodeName,
    families,
    mode,
    cleanStaleFlows: async (family, services) => {
      // In userspace mode flows end at proxies, whatever the endpoint, and the mode knows which of them are stale.
      if (config.mode === 'userspace') return 0;
      const start = performance.now();
      const deleted = await cleaner.clean(family, services, live.settings.allowExternalIPs);
      listeners.staleFlowsCleaned(family, deleted, performance.now() - start);
      return deleted;
    },
    listener: listeners.loop,
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
      await loop.close();
      cleaner.close();
    },
  };
}
