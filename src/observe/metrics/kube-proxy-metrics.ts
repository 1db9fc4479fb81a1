import { DOUBLING_SECONDS, PROGRAMMING_SECONDS } from './buckets.ts';
import type { KnownValues, MetricSet } from './metric-set.ts';

const FAMILY = ['ip_family'] as const;

/** What `/healthz` and `/livez` answer. */
const CODES = { code: ['200', '503'] };

export type KubeProxyMetrics = ReturnType<typeof kubeProxyMetrics>;

/** Upstream's metrics that every mode has, with upstream's names, labels and texts. */
export function kubeProxyMetrics(set: MetricSet, hasPartialSyncMetrics: boolean) {
  const make = makers(set);
  return {
    ...syncMetrics(make, hasPartialSyncMetrics),
    ...changeMetrics(make),
    healthz: make.counter('proxy_healthz_total', ['code'], 'Cumulative proxy healthz HTTP status', CODES),
    livez: make.counter('proxy_livez_total', ['code'], 'Cumulative proxy livez HTTP status', CODES),
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

export function kubeProxyName(name: string): string {
  return `kubeproxy_${name}`;
}

export function alpha(help: string): string {
  return `[ALPHA] ${help}`;
}

type Makers = ReturnType<typeof makers>;

function makers(set: MetricSet) {
  return {
    counter: <Label extends string>(
      name: string,
      labels: readonly Label[],
      help: string,
      values?: KnownValues<Label>,
    ) => set.counter(kubeProxyName(name), labels, alpha(help), values),
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

function syncMetrics({ histogram, gauge }: Makers, hasPartialSyncMetrics: boolean) {
  const duration = (part: string, help: string) =>
    histogram(`sync_${part}proxy_rules_duration_seconds`, FAMILY, DOUBLING_SECONDS, help);
  return {
    syncDuration: duration('', 'SyncProxyRules latency in seconds'),
    fullSyncDuration: hasPartialSyncMetrics
      ? duration('full_', 'SyncProxyRules latency in seconds for full resyncs')
      : undefined,
    partialSyncDuration: hasPartialSyncMetrics
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
