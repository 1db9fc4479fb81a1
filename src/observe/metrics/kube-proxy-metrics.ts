import { DOUBLING_SECONDS, PROGRAMMING_SECONDS } from './buckets.ts';
import type { MetricSet } from './metric-set.ts';

const FAMILY = ['ip_family'] as const;
const TABLE = ['table', 'ip_family'] as const;

export type KubeProxyMetrics = ReturnType<typeof kubeProxyMetrics>;

/** Upstream's own metrics, by name, label and text, as far as a mode has them. */
export function kubeProxyMetrics(set: MetricSet, mode: string) {
  const make = makers(set);
  return {
    ...syncMetrics(make, mode === 'iptables' || mode === 'nftables'),
    ...changeMetrics(make),
    ...(mode === 'iptables' || mode === 'ipvs' ? restoreMetrics(make) : {}),
    ...(mode === 'iptables' ? iptablesMetrics(make) : {}),
    ...(mode === 'nftables' ? nftablesMetrics(make) : {}),
    healthz: make.counter('proxy_healthz_total', ['code'], 'Cumulative proxy healthz HTTP status'),
    livez: make.counter('proxy_livez_total', ['code'], 'Cumulative proxy livez HTTP status'),
    conntrackDuration: make.histogram(
      'conntrack_reconciler_sync_duration_seconds',
      FAMILY,
      DOUBLING_SECONDS,
      'ReconcileConntrackFlowsLatency latency in seconds',
    ),
    conntrackDeleted: make.counter(
      'conntrack_reconciler_deleted_entries_total',
      FAMILY,
      'Cumulative conntrack flows deleted by conntrack reconciler',
    ),
  };
}

/** Those of packets, which the kernel counts for rules of iptables mode. */
export const PACKET_COUNTERS = {
  'invalid-dropped': [
    'iptables_ct_state_invalid_dropped_packets_total',
    'packets dropped by iptables to work around conntrack problems',
  ],
  'localhost-nodeports-accepted': [
    'iptables_localhost_nodeports_accepted_packets_total',
    'Number of packets accepted on nodeports of loopback interface',
  ],
} as const;

export type PacketCounter = keyof typeof PACKET_COUNTERS;

export function kubeProxyName(name: string): string {
  return `kubeproxy_${name}`;
}

export function alpha(help: string): string {
  return `[ALPHA] ${help}`;
}

type Makers = ReturnType<typeof makers>;

function makers(set: MetricSet) {
  return {
    counter: <Label extends string>(name: string, labels: readonly Label[], help: string) =>
      set.counter(kubeProxyName(name), labels, alpha(help)),
    gauge: <Label extends string>(name: string, labels: readonly Label[], help: string) =>
      set.gauge(kubeProxyName(name), labels, alpha(help)),
    histogram: <Label extends string>(
      name: string,
      labels: readonly Label[],
      buckets: readonly number[],
      help: string,
    ) => set.histogram(kubeProxyName(name), labels, buckets, alpha(help)),
  };
}

function syncMetrics({ histogram, gauge }: Makers, tellsFullFromPartial: boolean) {
  const duration = (part: string, help: string) =>
    histogram(`sync_${part}proxy_rules_duration_seconds`, FAMILY, DOUBLING_SECONDS, help);
  return {
    syncDuration: duration('', 'SyncProxyRules latency in seconds'),
    fullSyncDuration: tellsFullFromPartial
      ? duration('full_', 'SyncProxyRules latency in seconds for full resyncs')
      : undefined,
    partialSyncDuration: tellsFullFromPartial
      ? duration('partial_', 'SyncProxyRules latency in seconds for partial resyncs')
      : undefined,
    lastSync: gauge(
      'sync_proxy_rules_last_timestamp_seconds',
      FAMILY,
      'The last time proxy rules were successfully synced',
    ),
    lastQueued: gauge(
      'sync_proxy_rules_last_queued_timestamp_seconds',
      FAMILY,
      'The last time a sync of proxy rules was queued',
    ),
    networkProgramming: histogram(
      'network_programming_duration_seconds',
      FAMILY,
      PROGRAMMING_SECONDS,
      'In Cluster Network Programming Latency in seconds',
    ),
    noLocalEndpoints: gauge(
      'sync_proxy_rules_no_local_endpoints_total',
      ['traffic_policy', 'ip_family'],
      'Number of services with a Local traffic policy and no endpoints',
    ),
  };
}

function changeMetrics({ counter, gauge }: Makers) {
  const prefix = 'sync_proxy_rules';
  return {
    endpointChangesPending: gauge(`${prefix}_endpoint_changes_pending`, [], 'Pending proxy rules Endpoint changes'),
    endpointChanges: counter(`${prefix}_endpoint_changes_total`, [], 'Cumulative proxy rules Endpoint changes'),
    serviceChangesPending: gauge(`${prefix}_service_changes_pending`, [], 'Pending proxy rules Service changes'),
    serviceChanges: counter(`${prefix}_service_changes_total`, [], 'Cumulative proxy rules Service changes'),
  };
}

function restoreMetrics({ counter }: Makers) {
  return {
    restoreFailures: counter(
      'sync_proxy_rules_iptables_restore_failures_total',
      FAMILY,
      'Cumulative proxy iptables restore failures',
    ),
  };
}

function iptablesMetrics({ counter, gauge }: Makers) {
  return {
    partialRestoreFailures: counter(
      'sync_proxy_rules_iptables_partial_restore_failures_total',
      FAMILY,
      'Cumulative proxy iptables partial restore failures',
    ),
    rulesTotal: gauge('sync_proxy_rules_iptables_total', TABLE, 'Total number of iptables rules owned by kube-proxy'),
    rulesLast: gauge(
      'sync_proxy_rules_iptables_last',
      TABLE,
      'Number of iptables rules written by kube-proxy in last sync',
    ),
  };
}

function nftablesMetrics({ counter }: Makers) {
  return {
    nftablesSyncFailures: counter(
      'sync_proxy_rules_nftables_sync_failures_total',
      FAMILY,
      'Cumulative proxy nftables sync failures',
    ),
    nftablesCleanupFailures: counter(
      'sync_proxy_rules_nftables_cleanup_failures_total',
      FAMILY,
      'Cumulative proxy nftables cleanup failures',
    ),
  };
}
