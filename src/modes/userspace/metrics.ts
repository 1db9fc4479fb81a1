import type { MetricSet } from '../../observe/metrics/index.ts';
import type { MeasureObserver } from '../mode.ts';
import type { ServiceCounters } from './counters/service-counters.ts';
import { registerServiceMetrics } from './counters/service-metrics.ts';

/** All metrics of this mode are our own, because upstream no longer has it. They are read at each scrape. */
export function userspaceMetrics(set: MetricSet, read: () => readonly ServiceCounters[]): MeasureObserver {
  registerServiceMetrics(set, read);
  return () => {};
}
