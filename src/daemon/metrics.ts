import { FEATURE_GATES, isEnabled } from '../config/index.ts';
import { systemClock } from '../lib/clock.ts';
import { type Feature, ProxyMetrics } from '../metrics/index.ts';
import { buildInfo } from './build-info.ts';
import type { DaemonOptions } from './options.ts';

export function createMetrics(options: DaemonOptions): ProxyMetrics {
  return new ProxyMetrics({
    mode: options.configuration.mode,
    clock: systemClock,
    build: buildInfo(options.kubernetesVersion),
    features: features(options),
  });
}

/** All gates as they are set. */
function features({ gates }: DaemonOptions): Feature[] {
  return [...FEATURE_GATES.values()].map(({ name, stage }) => ({
    name,
    stage: stage === 'GA' ? '' : stage,
    enabled: isEnabled(gates, name),
  }));
}
