import { errorText } from '../../lib/error-text.ts';
import { PacketCounters } from './index.ts';
import type { Logger } from '../../observe/logging/index.ts';
import type { ProxyMetrics } from '../../observe/metrics/index.ts';
import type { Closers } from '../../daemon/closers.ts';

/** Lets the metrics show what the kernel counts for rules of iptables mode. */
export function showPacketCounters(metrics: ProxyMetrics, resources: OpenResources, log: Logger): void {
  try {
    const counters = PacketCounters.open();
    resources.add('packet counters', () => counters.close());
    metrics.readPackets('invalid-dropped', () => counters.packets('ct_state_invalid_dropped_pkts'));
    metrics.readPackets('localhost-nodeports-accepted', () => counters.packets('localhost_nps_accepted_pkts'));
  } catch (error) {
    log.error('iptables', "Failed to create nfacct runner, nfacct based metrics won't be available", {
      err: errorText(error),
    });
  }
}
