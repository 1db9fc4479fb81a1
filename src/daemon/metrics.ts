import { FEATURE_GATES, isEnabled } from '../config/index.ts';
import { systemClock } from '../lib/clock.ts';
import { modeNamed } from '../modes/index.ts';
import type { ProxyHealth } from '../observe/health/index.ts';
import { type Feature, ProxyMetrics } from '../observe/metrics/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import type { DaemonOptions } from './options.ts';
import { buildInfo } from './version-info.ts';

export function createMetrics(options: DaemonOptions, health: ProxyHealth): ProxyMetrics {
  const metrics = new ProxyMetrics({
    hasPartialSyncMetrics: modeNamed(options.configuration.mode)?.hasPartialSyncMetrics ?? false,
    clock: systemClock,
    build: buildInfo(options.kubernetesVersion),
    features: features(options),
  });
  // Shown from the start: a proxy that waits for its API server is not healthy either.
  metrics.readHealth(() => health.healthy);
  return metrics;
}

/** Gates that set all gates of a stage. They are off by default. */
const ALL_OF = { AllAlpha: 'ALPHA', AllBeta: 'BETA' } as const;

/** All gates as they are set. */
function features({ gates }: DaemonOptions): Feature[] {
  const single = [...FEATURE_GATES.values()].map(({ name, stage }) => ({
    name,
    stage: stage === 'GA' ? '' : stage,
    enabled: isEnabled(gates, name),
  }));
  const all = Object.entries(ALL_OF).map(([name, stage]) => ({
    name,
    stage,
    enabled: gates.enabled.get(name) ?? false,
  }));
  return [...single, ...all];
}

/** Updates what the proxy counts itself, each time that a client reads the metrics. */
export function showProxyCounts(metrics: ProxyMetrics, { loop, mode }: RunningProxy): void {
  metrics.onScrape(() => {
    const { changes } = loop.state;
    let pendingEndpoints = 0;
    let pendingServices = 0;
    const setAside = mode.setAside();
    for (const family of loop.families) {
      const { model, planner } = loop.state.family(family);
      pendingEndpoints += model.pendingEndpoints;
      pendingServices += model.pendingServices;
      const { internal, external } = loop.noLocalEndpoints(family);
      metrics.noLocalEndpoints(family, 'internal', internal);
      metrics.noLocalEndpoints(family, 'external', external);
      const aside = setAside.filter(port => port.family === family).length;
      metrics.servicePorts(family, { programmed: planner.size - aside, setAside: aside });
    }
    metrics.changes({ ...changes, pendingEndpoints, pendingServices });
  });
}
