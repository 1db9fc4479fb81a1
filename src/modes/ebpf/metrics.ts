import type { MetricSet } from '../../observe/metrics/index.ts';
import type { MeasureObserver } from '../mode.ts';
import type { Translation } from './generation/translation.ts';

/** All metrics of this mode are our own. They are read at each scrape. */
export function ebpfMetrics(_set: MetricSet, _translation: Translation): MeasureObserver {
  return () => {};
}
