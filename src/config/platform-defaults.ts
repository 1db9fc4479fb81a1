import type { Configuration } from './configuration.ts';

/** What is left open by file and flags and depends on the platform: to be filled in before validation. */
export function applyPlatformDefaults(configuration: Configuration): Configuration {
  const { mode, nodePortAddresses, detectLocalMode } = configuration;
  const isOpen = (nodePortAddresses ?? []).length === 0;
  return {
    ...configuration,
    mode: mode === '' ? 'iptables' : mode,
    // Only nftables mode is new enough that nobody relies on node ports being open on every address.
    nodePortAddresses: mode === 'nftables' && isOpen ? ['primary'] : nodePortAddresses,
    detectLocalMode: detectLocalMode === '' ? 'ClusterCIDR' : detectLocalMode,
  };
}
