import { usesNftables } from './configuration.ts';
import {
  bool,
  duration,
  float32,
  flushFrequency,
  int32,
  list,
  mapOf,
  omitEmpty,
  pointer,
  quantity,
  struct,
  text,
  uint32,
  type ValueOf,
} from './schema/index.ts';

// The fields of a configuration file, in the order in which /configz shows them. Type names are those of upstream's Go
// program, because error messages quote them.

const clientConnection = struct('v1alpha1.ClientConnectionConfiguration', {
  kubeconfig: text(),
  acceptContentTypes: text(),
  contentType: text(),
  qps: float32,
  burst: int32,
});

const outputOptions = { splitStream: omitEmpty(bool), infoBufferSize: quantity };

const logging = struct('v1.LoggingConfiguration', {
  format: omitEmpty(text()),
  flushFrequency,
  verbosity: uint32('v1.VerbosityLevel'),
  vmodule: omitEmpty(
    list(
      struct('v1.VModuleItem', { filePattern: text(), verbosity: uint32('v1.VerbosityLevel') }),
      'v1.VModuleConfiguration',
    ),
  ),
  options: struct('v1.FormatOptions', {
    text: struct('v1.TextOptions', outputOptions, 'OutputRoutingOptions'),
    json: struct('v1.JSONOptions', outputOptions, 'OutputRoutingOptions'),
  }),
});

const iptables = struct('v1alpha1.KubeProxyIPTablesConfiguration', {
  masqueradeBit: pointer(int32),
  masqueradeAll: bool,
  localhostNodePorts: pointer(bool),
  syncPeriod: duration,
  minSyncPeriod: duration,
});

const ipvs = struct('v1alpha1.KubeProxyIPVSConfiguration', {
  syncPeriod: duration,
  minSyncPeriod: duration,
  scheduler: text(),
  excludeCIDRs: list(text()),
  strictARP: bool,
  tcpTimeout: duration,
  tcpFinTimeout: duration,
  udpTimeout: duration,
});

const nftables = struct('v1alpha1.KubeProxyNFTablesConfiguration', {
  masqueradeBit: pointer(int32),
  masqueradeAll: bool,
  syncPeriod: duration,
  minSyncPeriod: duration,
});

const winkernel = struct('v1alpha1.KubeProxyWinkernelConfiguration', {
  networkName: text(),
  sourceVip: text(),
  enableDSR: bool,
  rootHnsEndpointName: text(),
  forwardHealthCheckVip: bool,
});

const conntrack = struct('v1alpha1.KubeProxyConntrackConfiguration', {
  maxPerCore: pointer(int32),
  min: pointer(int32),
  tcpEstablishedTimeout: pointer(duration),
  tcpCloseWaitTimeout: pointer(duration),
  tcpBeLiberal: bool,
  udpTimeout: duration,
  udpStreamTimeout: duration,
});

export const kubeProxyConfiguration = struct('v1alpha1.KubeProxyConfiguration', {
  kind: text(),
  apiVersion: text(),
  featureGates: omitEmpty(mapOf(bool)),
  clientConnection,
  logging,
  hostnameOverride: text(),
  bindAddress: text(),
  healthzBindAddress: text(),
  metricsBindAddress: text(),
  bindAddressHardFail: bool,
  enableProfiling: bool,
  showHiddenMetricsForVersion: text(),
  mode: text('v1alpha1.ProxyMode'),
  iptables,
  ipvs,
  nftables,
  winkernel,
  detectLocalMode: text('v1alpha1.LocalMode'),
  detectLocal: struct('v1alpha1.DetectLocalConfiguration', { bridgeInterface: text(), interfaceNamePrefix: text() }),
  clusterCIDR: text(),
  nodePortAddresses: list(text()),
  oomScoreAdj: pointer(int32),
  conntrack,
  configSyncPeriod: duration,
  portRange: text(),
  // Only userspace mode uses this field. Upstream dropped the field with that mode.
  udpIdleTimeout: omitEmpty(pointer(duration)),
  windowsRunAsService: omitEmpty(bool),
});

/** The fields of a file, before or after defaults.ts filled in the defaults. */
export type V1alpha1 = ValueOf<typeof kubeProxyConfiguration>;

/** A section of a file that has sync periods. */
export type Section = 'iptables' | 'ipvs' | 'nftables';

/** userspace mode has no section of its own and uses the section of iptables. */
export function sectionOf(mode: string): Section {
  if (usesNftables(mode)) return 'nftables';
  return mode === 'ipvs' ? mode : 'iptables';
}

export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
export const KIND = 'KubeProxyConfiguration';
