import type { NetworkNamespace } from '../../kernel/netns.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Logger } from '../../lib/log.ts';
import { type Mode, type ModeEvents, NodeAddresses, StaleFlowCleaner } from '../../modes/index.ts';
import { NftablesMode } from '../../modes/nftables/index.ts';
import { FAMILIES } from '../../net/index.ts';
import type { PlanSettings } from '../../plan/index.ts';
import { ProxyLoop } from '../../sync/index.ts';

export interface ProxyConfig {
  readonly nodeName: string;
  readonly settings: PlanSettings;
  readonly nodePortAddresses: readonly string[];
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
  readonly namespace?: NetworkNamespace | undefined;
}

/** A proxy with all its parts: hand its loop to a source. */
export interface RunningProxy {
  readonly loop: ProxyLoop;
  readonly mode: Mode;
  close(): Promise<void>;
}

const MASQUERADE_BIT = 14;

export function createProxy(config: ProxyConfig, log: Logger): RunningProxy {
  const { namespace, settings } = config;
  const mode = new NftablesMode({ namespace, events: modeEvents(log) });
  const cleaner = new StaleFlowCleaner(namespace);
  const addresses = new NodeAddresses(
    namespace,
    () => loop.request(),
    error => log.error('proxy', 'Address changes are no longer seen', { err: errorText(error) }),
  );
  const loop = new ProxyLoop({
    ...config,
    masqueradeBit: MASQUERADE_BIT,
    families: FAMILIES,
    mode,
    interfaceIPs: () => addresses.list(),
    cleanStaleFlows: async (family, services) => {
      const deleted = await cleaner.clean(family, services, settings.allowExternalIPs);
      if (deleted > 0) log.info('proxy', 'Deleted stale flows', { ipFamily: family, deleted });
      return deleted;
    },
    log: {
      problem: ({ where, object, field, message }) =>
        log.warning('proxy', 'Cannot be used', { where, object, field, reason: message }),
      recovered: where => log.info('proxy', 'Is good again', { where }),
      synced: (family, ports, milliseconds) => {
        if (ports > 0)
          log.info('proxy', 'Synced', { ipFamily: family, servicePorts: ports, took: `${milliseconds.toFixed(1)}ms` });
      },
      failed: (what, error) => log.error('proxy', 'Failed', { what, err: errorText(error) }),
    },
  });
  return {
    loop,
    mode,
    async close() {
      addresses.close();
      await loop.close();
      cleaner.close();
    },
  };
}

function modeEvents(log: Logger): ModeEvents {
  return {
    progress: (family, done, of) => log.info('nftables', 'Programming', { ipFamily: family, servicePorts: done, of }),
    setAside: ({ family, servicePort, error }) =>
      log.error('nftables', 'The kernel refused a service port; it is set aside until it changes', {
        ipFamily: family,
        servicePort,
        err: error,
      }),
    driftRepaired: (family, what) =>
      log.warning('nftables', 'Repaired what someone else changed', { ipFamily: family, what }),
    failed: (what, error) => log.error('nftables', 'Failed', { what, err: errorText(error) }),
  };
}
