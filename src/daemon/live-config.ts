import { type Configuration, type FeatureGates, isEnabled } from '../config/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { type LiveConfig, MASQUERADE_BIT, syncIntervals } from '../proxy/index.ts';

/** What of the configuration a running proxy goes by. */
export function liveConfig(configuration: Configuration, gates: FeatureGates): LiveConfig {
  const { mode, detectLocal, linux } = configuration;
  const { masqueradeBit } = mode === 'nftables' ? configuration.nftables : configuration.iptables;
  return {
    settings: {
      ...detectLocal,
      mode: configuration.detectLocalMode,
      bindAddress: configuration.bindAddress,
      masqueradeAll: linux.masqueradeAll,
      allowExternalIPs: isEnabled(gates, 'AllowServiceExternalIPs'),
    },
    nodePortAddresses: configuration.nodePortAddresses ?? [],
    masqueradeBit: masqueradeBit ?? MASQUERADE_BIT,
    intervals: syncIntervals(toMilliseconds(configuration.minSyncPeriod), toMilliseconds(configuration.syncPeriod)),
  };
}
