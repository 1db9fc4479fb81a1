import type { Duration } from '../lib/duration.ts';
import type { Configuration, LoggingConfiguration } from './configuration.ts';
import { API_VERSION, KIND, type V1alpha1 } from './v1alpha1.ts';

/** The fields of a file in the places where the proxy looks for them: periods and masqueradeAll are those of the mode. */
export function toConfiguration(file: V1alpha1): Configuration {
  const { syncPeriod, minSyncPeriod } = periodsOf(file);
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
      masqueradeAll: (file.mode === 'nftables' ? file.nftables : file.iptables).masqueradeAll,
      oomScoreAdj: file.oomScoreAdj,
    },
    windowsRunAsService: file.windowsRunAsService,
  };
}

/** The way back. Sections of other modes have no periods then: nothing remembers them. */
export function toFile(configuration: Configuration): V1alpha1 {
  const { mode, syncPeriod, minSyncPeriod, linux, detectLocal } = configuration;
  const section = sectionOf(mode);
  const periods = (name: Section): Periods =>
    name === section ? { syncPeriod, minSyncPeriod } : { syncPeriod: 0n, minSyncPeriod: 0n };
  const isNftables = mode === 'nftables';
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

type Section = 'iptables' | 'ipvs' | 'nftables';

interface Periods {
  readonly syncPeriod: Duration;
  readonly minSyncPeriod: Duration;
}

/** Every mode without a section of its own has that of iptables. */
function sectionOf(mode: string): Section {
  return mode === 'ipvs' || mode === 'nftables' ? mode : 'iptables';
}

function periodsOf(file: V1alpha1): Periods {
  return file[sectionOf(file.mode)];
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

function toFileLogging(logging: LoggingConfiguration): V1alpha1['logging'] {
  const { flushFrequencyIsNumber, ...rest } = logging;
  return {
    ...rest,
    flushFrequency: { duration: logging.flushFrequency, isNumber: flushFrequencyIsNumber === true },
  };
}
