import { HOUR, MINUTE, SECOND } from '../lib/duration.ts';
import { familyOf, joinHostPort, parseIp } from '../net/index.ts';
import { type Configuration, usesNftables } from './configuration.ts';
import { splitHostPort } from './ports.ts';
import type { V1alpha1 } from './v1alpha1.ts';

export const HEALTHZ_PORT = 10256;
export const METRICS_PORT = 10249;

/**
 * Fills in the fields that a file does not set. In a field that can be undefined, zero is a value. In other fields,
 * zero counts as not set.
 */
export function withDefaults(file: V1alpha1): V1alpha1 {
  const bindAddress = file.bindAddress || '0.0.0.0';
  const bindIp = parseIp(bindAddress);
  const isV4 = bindIp !== undefined && familyOf(bindIp) === 'IPv4';
  return {
    ...file,
    bindAddress,
    healthzBindAddress: addressOr(file.healthzBindAddress, isV4 ? '0.0.0.0' : '::', HEALTHZ_PORT),
    metricsBindAddress: addressOr(file.metricsBindAddress, isV4 ? '127.0.0.1' : '::1', METRICS_PORT),
    featureGates: file.featureGates ?? new Map(),
    clientConnection: clientConnectionDefaults(file.clientConnection),
    logging: loggingDefaults(file.logging),
    oomScoreAdj: file.oomScoreAdj ?? -999,
    configSyncPeriod: file.configSyncPeriod || 15n * MINUTE,
    iptables: {
      ...file.iptables,
      masqueradeBit: file.iptables.masqueradeBit ?? 14,
      localhostNodePorts: file.iptables.localhostNodePorts ?? true,
      syncPeriod: file.iptables.syncPeriod || 30n * SECOND,
      minSyncPeriod: file.iptables.minSyncPeriod || SECOND,
    },
    ipvs: { ...file.ipvs, syncPeriod: file.ipvs.syncPeriod || 30n * SECOND },
    nftables: {
      ...file.nftables,
      masqueradeBit: file.nftables.masqueradeBit ?? 14,
      syncPeriod: file.nftables.syncPeriod || 30n * SECOND,
      minSyncPeriod: file.nftables.minSyncPeriod || SECOND,
    },
    conntrack: {
      ...file.conntrack,
      maxPerCore: file.conntrack.maxPerCore ?? 32 * 1024,
      min: file.conntrack.min ?? 128 * 1024,
      tcpEstablishedTimeout: file.conntrack.tcpEstablishedTimeout ?? 24n * HOUR,
      tcpCloseWaitTimeout: file.conntrack.tcpCloseWaitTimeout ?? HOUR,
    },
  };
}

/** Upstream's words, for the log and for an Event if the operator named no mode. */
export const MODE_DEFAULTED =
  "No kube-proxy mode specified: defaulting to 'iptables'. Note that in Kubernetes 1.40 the default mode will switch to 'nftables'. If you wish to continue using 'iptables' mode, you must explicitly specify 'mode: iptables' in the kube-proxy config file, or '--proxy-mode iptables' on the kube-proxy command line.";

/** Fills in the defaults that depend on the platform. Call it before validation. */
export function applyPlatformDefaults(configuration: Configuration): Configuration {
  const { mode, nodePortAddresses, detectLocalMode } = configuration;
  const hasNoAddresses = (nodePortAddresses ?? []).length === 0;
  return {
    ...configuration,
    mode: mode === '' ? 'iptables' : mode,
    // Older modes accept node ports on every address, and users rely on that. nftables mode is new.
    nodePortAddresses: usesNftables(mode) && hasNoAddresses ? ['primary'] : nodePortAddresses,
    detectLocalMode: detectLocalMode === '' ? 'ClusterCIDR' : detectLocalMode,
  };
}

/** Appends the port to an IP address without one. Other texts stay as they are; validation checks them. */
export function appendPortIfNeeded(address: string, port: number): string {
  if (splitHostPort(address) || parseIp(address) === undefined) return address;
  return joinHostPort(address, port);
}

function addressOr(address: string, host: string, port: number): string {
  return address === '' ? joinHostPort(host, port) : appendPortIfNeeded(address, port);
}

function clientConnectionDefaults(client: V1alpha1['clientConnection']): V1alpha1['clientConnection'] {
  return {
    ...client,
    contentType: client.contentType || 'application/vnd.kubernetes.protobuf',
    qps: client.qps || 5,
    burst: client.burst || 10,
  };
}

function loggingDefaults(logging: V1alpha1['logging']): V1alpha1['logging'] {
  const isNotSet = logging.flushFrequency.duration === 0n;
  return {
    ...logging,
    format: logging.format || 'text',
    flushFrequency: isNotSet ? { duration: 5n * SECOND, isNumber: false } : logging.flushFrequency,
  };
}
