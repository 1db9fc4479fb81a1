import { alpha, kubeProxyName, type MetricSet } from '../../observe/metrics/index.ts';
import type { MeasureObserver } from '../mode.ts';

const FAMILY = ['ip_family'] as const;

/** Upstream's metrics that only nftables mode has. */
export function nftablesMetrics(set: MetricSet): MeasureObserver {
  const syncFailures = set.counter(
    kubeProxyName('sync_proxy_rules_nftables_sync_failures_total'),
    FAMILY,
    alpha('Cumulative proxy nftables sync failures'),
  );
  const cleanupFailures = set.counter(
    kubeProxyName('sync_proxy_rules_nftables_cleanup_failures_total'),
    FAMILY,
    alpha('Cumulative proxy nftables cleanup failures'),
  );
  return (family, { kind }) => {
    if (kind === 'refused') syncFailures.inc({ ip_family: family });
    if (kind === 'cleanup-failed') cleanupFailures.inc({ ip_family: family });
  };
}
