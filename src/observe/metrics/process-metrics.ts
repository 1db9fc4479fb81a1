import registerHeap from 'prom-client/lib/metrics/heapSizeAndUsed.js';
import registerMemory from 'prom-client/lib/metrics/osMemoryHeap.js';
import registerMostDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js';
import registerOpenDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js';
import registerVersion from 'prom-client/lib/metrics/version.js';
import type { MetricSet } from './metric-set.ts';

/** When this process started, in milliseconds since 1970. */
export const PROCESS_START_MS = Math.round(Date.now() - process.uptime() * 1000);

/** What dashboards show of any process. Go's own figures have no meaning here; those of Node stand in for them. */
export function processMetrics(set: MetricSet): void {
  processStartTime(set);
  set.readCounter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registerMemory(set.registry);
  registerOpenDescriptors(set.registry);
  registerMostDescriptors(set.registry);
  registerHeap(set.registry);
  registerVersion(set.registry);
}

/** Elsewhere than among the metrics of the process it has a stability. */
export function processStartTime(set: MetricSet, stability = ''): void {
  const help = `${stability}Start time of the process since unix epoch in seconds.`;
  set.readGauge('process_start_time_seconds', help, () => PROCESS_START_MS / 1000);
}
