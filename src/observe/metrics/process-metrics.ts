import registerHeap from 'prom-client/lib/metrics/heapSizeAndUsed.js';
import registerMemory from 'prom-client/lib/metrics/osMemoryHeap.js';
import registerMaxDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js';
import registerOpenDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js';
import registerVersion from 'prom-client/lib/metrics/version.js';
import type { MetricSet } from './metric-set.ts';

/** When this process started, in milliseconds since 1970. */
export const PROCESS_START_MS = Math.round(Date.now() - process.uptime() * 1000);

/** The metrics that dashboards show for every process, and Node's metrics instead of Go's. */
export function processMetrics(set: MetricSet): void {
  processStartTime(set);
  set.readCounter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registerMemory(set.registry);
  registerOpenDescriptors(set.registry);
  registerMaxDescriptors(set.registry);
  registerHeap(set.registry);
  registerVersion(set.registry);
}

/** Upstream's help text begins with a stability level in `/metrics/slis`, but not in `/metrics`. */
export function processStartTime(set: MetricSet, stability = ''): void {
  const help = `${stability}Start time of the process since unix epoch in seconds.`;
  set.readGauge('process_start_time_seconds', help, () => PROCESS_START_MS / 1000);
}
