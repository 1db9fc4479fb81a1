import { type Configuration, type FeatureGates, isEnabled, masqueradeBitOf } from '../config/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { type LiveConfig, MASQUERADE_BIT, syncIntervals } from '../proxy/index.ts';

/** The part of the configuration that a running proxy can take over. */
export function liveConfig(configuration: Configuration, gates: FeatureGates): LiveConfig {
  const { detectLocal, linux } = configuration;
  return {
    settings: {
      ...detectLocal,
      mode: configuration.detectLocalMode,
      bindAddress: configuration.bindAddress,
      masqueradeAll: linux.masqueradeAll,
      allowExternalIPs: isEnabled(gates, 'AllowServiceExternalIPs'),
    },
    nodePortAddresses: configuration.nodePortAddresses ?? [],
    masqueradeBit: masqueradeBitOf(configuration) ?? MASQUERADE_BIT,
    intervals: syncIntervals(toMilliseconds(configuration.minSyncPeriod), toMilliseconds(configuration.syncPeriod)),
  };
}
