import { type Plain, writeYaml } from '../lib/document/index.ts';
import { type Configuration, type LoggingConfiguration, usesNftables } from './configuration.ts';
import { API_VERSION, KIND, kubeProxyConfiguration, type Section, sectionOf, type V1alpha1 } from './v1alpha1.ts';

/** Returns the text that --write-config-to writes. */
export function encodeConfiguration(configuration: Configuration): string {
  return writeYaml(configurationObject(configuration));
}

/** Returns the configuration as a v1alpha1 object for JSON. The fields have the order in which /configz shows them. */
export function configurationObject(configuration: Configuration): Plain {
  return kubeProxyConfiguration.write(toFile(configuration)) ?? null;
}

/**
 * The opposite of `toConfiguration` in load.ts. A Configuration has no periods of other modes, so their sections get
 * zeros.
 */
function toFile(configuration: Configuration): V1alpha1 {
  const { mode, syncPeriod, minSyncPeriod, linux, detectLocal } = configuration;
  const section = sectionOf(mode);
  const periods = (name: Section): Pick<V1alpha1[Section], 'syncPeriod' | 'minSyncPeriod'> =>
    name === section ? { syncPeriod, minSyncPeriod } : { syncPeriod: 0n, minSyncPeriod: 0n };
  const isNftables = usesNftables(mode);
  return {
    kind: KIND,
    apiVersion: API_VERSION,
    featureGates: configuration.featureGates,
    clientConnection: configuration.clientConnection,
    logging: toFileLogging(configuration.logging),
    hostnameOverride: configuration.hostnameOverride,
    bindAddress: configuration.bindAddress,
    healthzBindAddress: configuration.healthzBindAddress,
    metricsBindAddress: configuration.metricsBindAddress,
    bindAddressHardFail: configuration.bindAddressHardFail,
    enableProfiling: configuration.enableProfiling,
    showHiddenMetricsForVersion: configuration.showHiddenMetricsForVersion,
    mode,
    iptables: { ...configuration.iptables, masqueradeAll: !isNftables && linux.masqueradeAll, ...periods('iptables') },
    ipvs: { ...configuration.ipvs, ...periods('ipvs') },
    nftables: { ...configuration.nftables, masqueradeAll: isNftables && linux.masqueradeAll, ...periods('nftables') },
    winkernel: configuration.winkernel,
    detectLocalMode: configuration.detectLocalMode,
    detectLocal: {
      bridgeInterface: detectLocal.bridgeInterface,
      interfaceNamePrefix: detectLocal.interfaceNamePrefix,
    },
    clusterCIDR: detectLocal.clusterCIDRs.join(','),
    nodePortAddresses: configuration.nodePortAddresses,
    oomScoreAdj: linux.oomScoreAdj,
    conntrack: linux.conntrack,
    configSyncPeriod: configuration.configSyncPeriod,
    portRange: mode === 'userspace' ? configuration.userspace.portRange : '',
    udpIdleTimeout: mode === 'userspace' ? configuration.userspace.udpIdleTimeout : undefined,
    windowsRunAsService: configuration.windowsRunAsService,
  };
}

function toFileLogging(logging: LoggingConfiguration): V1alpha1['logging'] {
  const { flushFrequencyIsNumber, ...rest } = logging;
  return {
    ...rest,
    flushFrequency: { duration: logging.flushFrequency, isNumber: flushFrequencyIsNumber === true },
  };
}
