import type { NetworkNamespace } from '../kernel/netns.ts';
import { type Mode, type ModeEvents, NodeAddresses, StaleFlowCleaner } from '../modes/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { PlanSettings } from '../plan/index.ts';
import { type ModeSettingsInput, type ProxyLog, ProxyLoop } from '../sync/index.ts';
import { createMode, type IptablesConfig, type ProxyMode } from './create-mode.ts';

export interface ProxyConfig {
  readonly nodeName: string;
  readonly settings: PlanSettings;
  readonly nodePortAddresses: readonly string[];
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
  readonly namespace?: NetworkNamespace | undefined;
  /** nftables unless told. */
  readonly mode?: ProxyMode | undefined;
  /** For iptables mode. */
  readonly iptables?: IptablesConfig | undefined;
}

/** Who hears of what the proxy does. */
export interface ProxyListeners {
  readonly log: ProxyLog;
  readonly mode: ModeEvents;
  staleFlowsDeleted(family: Family, count: number): void;
}

/** A proxy with all its parts. A source is handed its loop. */
export interface RunningProxy {
  readonly loop: ProxyLoop;
  readonly mode: Mode;
  readonly modeInput: ModeSettingsInput;
  /** What is programmed stays. */
  close(): Promise<void>;
}

/** The bit of the packet mark that asks for masquerading, unless configured otherwise. */
export const MASQUERADE_BIT = 14;

export function createProxy(config: ProxyConfig, listeners: ProxyListeners): RunningProxy {
  const { namespace, settings, nodePortAddresses } = config;
  const mode = createMode(config, listeners.mode);
  const cleaner = new StaleFlowCleaner(namespace);
  const addresses = new NodeAddresses(
    namespace,
    () => loop.request(),
    error => listeners.log.failed("watching the node's addresses", error),
  );
  const modeInput = { nodePortAddresses, masqueradeBit: MASQUERADE_BIT, interfaceIPs: () => addresses.list() };
  const loop = new ProxyLoop({
    ...config,
    ...modeInput,
    families: FAMILIES,
    mode,
    cleanStaleFlows: async (family, services) => {
      const deleted = await cleaner.clean(family, services, settings.allowExternalIPs);
      if (deleted > 0) listeners.staleFlowsDeleted(family, deleted);
      return deleted;
    },
    log: listeners.log,
  });
  const close = async () => {
    addresses.close();
    await loop.close();
    cleaner.close();
  };
  return { loop, mode, modeInput, close };
}
