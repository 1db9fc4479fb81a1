import { alpha, kubeProxyName, type MetricSet } from '../../observe/metrics/index.ts';
import type { MeasureObserver } from '../mode.ts';

/** The only metric that upstream has for ipvs mode. It is shared with iptables mode. */
export function ipvsMetrics(set: MetricSet): MeasureObserver {
  const restoreFailures = set.counter(
    kubeProxyName('sync_proxy_rules_iptables_restore_failures_total'),
    ['ip_family'],
    alpha('Cumulative proxy iptables restore failures'),
  );
  return (family, { kind }) => {
    if (kind === 'refused') restoreFailures.inc({ ip_family: family });
  };
}
