import { type Configuration, type FeatureGates, isEnabled, masqueradeBitOf } from '../config/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { type ModeFlags, modeNamed } from '../modes/index.ts';
import { type LiveConfig, MASQUERADE_BIT, syncIntervals } from '../proxy/index.ts';

/** The part of the configuration that a running proxy can take over. */
export function liveConfig(
  configuration: Configuration,
  gates: FeatureGates,
  { defaultBalance }: Pick<ModeFlags, 'defaultBalance'> = {},
): LiveConfig {
  const { detectLocal, linux } = configuration;
  return {
    settings: {
      ...detectLocal,
      mode: configuration.detectLocalMode,
      bindAddress: configuration.bindAddress,
      masqueradeAll: linux.masqueradeAll,
      allowExternalIPs: isEnabled(gates, 'AllowServiceExternalIPs'),
      defaultAlgorithm: defaultBalance,
      algorithms: modeNamed(configuration.mode)?.algorithms,
    },
    nodePortAddresses: configuration.nodePortAddresses ?? [],
    masqueradeBit: masqueradeBitOf(configuration) ?? MASQUERADE_BIT,
    intervals: syncIntervals(toMilliseconds(configuration.minSyncPeriod), toMilliseconds(configuration.syncPeriod)),
  };
}
