import { type Configuration, type LoggingConfiguration, usesNftables } from './configuration.ts';
import { ConfigurationError } from './configuration-text.ts';
import { type Decoded, decode } from './decode.ts';
import { withDefaults } from './defaults.ts';
import { DecodeError } from './schema/index.ts';
import { kubeProxyConfiguration, sectionOf, type V1alpha1 } from './v1alpha1.ts';

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** Faults that only strict decoding refuses. To be logged as `Using lenient decoding as strict decoding failed`. */
  readonly lenient?: string;
}

/**
 * Reads the text of a configuration file and fills in all defaults except those of the platform. Throws a
 * ConfigurationError.
 */
export function loadConfiguration(text: string): LoadedConfiguration {
  const { file, strict } = decodeText(text);
  const configuration = toConfiguration(withDefaults(file));
  if (strict.length === 0) return { configuration };
  return { configuration, lenient: `strict decoding error: ${strict.join(', ')}` };
}

/** The configuration of an empty file. Flags start from it. */
export function defaultConfiguration(): Configuration {
  return toConfiguration(withDefaults(kubeProxyConfiguration.zero));
}

function decodeText(text: string): Decoded {
  try {
    return decode(text);
  } catch (error) {
    if (error instanceof DecodeError) throw new ConfigurationError(`failed to decode: ${error.message}`);
    throw error;
  }
}

/** The opposite of `toFile` in encode.ts. The periods and masqueradeAll come from the section of the mode. */
function toConfiguration(file: V1alpha1): Configuration {
  const { syncPeriod, minSyncPeriod } = file[sectionOf(file.mode)];
  return {
    featureGates: file.featureGates ?? new Map(),
    clientConnection: file.clientConnection,
    logging: toLogging(file.logging),
    hostnameOverride: file.hostnameOverride,
    bindAddress: file.bindAddress,
    healthzBindAddress: file.healthzBindAddress,
    metricsBindAddress: file.metricsBindAddress,
    bindAddressHardFail: file.bindAddressHardFail,
    enableProfiling: file.enableProfiling,
    showHiddenMetricsForVersion: file.showHiddenMetricsForVersion,
    mode: file.mode,
    iptables: {
      masqueradeBit: file.iptables.masqueradeBit,
      localhostNodePorts: file.iptables.localhostNodePorts,
    },
    ipvs: toIpvs(file.ipvs),
    nftables: { masqueradeBit: file.nftables.masqueradeBit },
    userspace: { portRange: file.portRange, udpIdleTimeout: file.udpIdleTimeout },
    winkernel: file.winkernel,
    detectLocalMode: file.detectLocalMode,
    detectLocal: { ...file.detectLocal, clusterCIDRs: file.clusterCIDR === '' ? [] : file.clusterCIDR.split(',') },
    nodePortAddresses: file.nodePortAddresses,
    syncPeriod,
    minSyncPeriod,
    configSyncPeriod: file.configSyncPeriod,
    linux: {
      conntrack: file.conntrack,
      masqueradeAll: (usesNftables(file.mode) ? file.nftables : file.iptables).masqueradeAll,
      oomScoreAdj: file.oomScoreAdj,
    },
    windowsRunAsService: file.windowsRunAsService,
  };
}

function toIpvs({ syncPeriod: _, minSyncPeriod: __, ...ipvs }: V1alpha1['ipvs']): Configuration['ipvs'] {
  return ipvs;
}

function toLogging(logging: V1alpha1['logging']): LoggingConfiguration {
  const { duration, isNumber } = logging.flushFrequency;
  return {
    ...logging,
    flushFrequency: duration,
    ...(isNumber ? { flushFrequencyIsNumber: true } : {}),
    vmodule: logging.vmodule ?? [],
  };
}
