import { alpha, kubeProxyName, type MetricSet } from '../../observe/metrics/index.ts';
import type { MeasureObserver } from '../mode.ts';
import type { PacketCounters } from './machine/read-packet-counters.ts';

const FAMILY = ['ip_family'] as const;
const TABLE = ['table', 'ip_family'] as const;

/** Upstream's metrics that only iptables mode has. */
export function iptablesMetrics(set: MetricSet): MeasureObserver {
  const counter = (name: string, help: string) => set.counter(kubeProxyName(name), FAMILY, alpha(help));
  const gauge = (name: string, help: string) => set.gauge(kubeProxyName(name), TABLE, alpha(help));
  const restoreFailures = counter(
    'sync_proxy_rules_iptables_restore_failures_total',
    'Cumulative proxy iptables restore failures',
  );
  const partialRestoreFailures = counter(
    'sync_proxy_rules_iptables_partial_restore_failures_total',
    'Cumulative proxy iptables partial restore failures',
  );
  const rulesTotal = gauge('sync_proxy_rules_iptables_total', 'Total number of iptables rules owned by kube-proxy');
  const rulesLast = gauge(
    'sync_proxy_rules_iptables_last',
    'Number of iptables rules written by kube-proxy in last sync',
  );
  return (family, measure) => {
    const labels = { ip_family: family };
    if (measure.kind === 'refused') {
      restoreFailures.inc(labels);
      if (!measure.full) partialRestoreFailures.inc(labels);
    }
    if (measure.kind === 'rules') {
      rulesTotal.set({ table: measure.table, ...labels }, measure.total);
      rulesLast.set({ table: measure.table, ...labels }, measure.last);
    }
  };
}

/** Upstream's metrics of packets that the kernel counts for rules. */
export function packetMetrics(set: MetricSet, counters: Pick<PacketCounters, 'packets'>): void {
  set.readCounter(
    kubeProxyName('iptables_ct_state_invalid_dropped_packets_total'),
    alpha('packets dropped by iptables to work around conntrack problems'),
    () => counters.packets('ct_state_invalid_dropped_pkts'),
  );
  set.readCounter(
    kubeProxyName('iptables_localhost_nodeports_accepted_packets_total'),
    alpha('Number of packets accepted on nodeports of loopback interface'),
    () => counters.packets('localhost_nps_accepted_pkts'),
  );
}
