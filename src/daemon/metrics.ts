import { FEATURE_GATES, isEnabled } from '../config/index.ts';
import { systemClock } from '../lib/clock.ts';
import type { ProxyHealth } from '../observe/health/index.ts';
import { type Feature, ProxyMetrics } from '../observe/metrics/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import type { DaemonOptions } from './options.ts';
import { buildInfo } from './version-info.ts';

export function createMetrics(options: DaemonOptions, health: ProxyHealth): ProxyMetrics {
  const metrics = new ProxyMetrics({
    mode: options.configuration.mode,
    clock: systemClock,
    build: buildInfo(options.kubernetesVersion),
    features: features(options),
  });
  // From the start: a proxy that waits for its API server is not healthy, and whoever watches it must hear so.
  metrics.readHealth(() => health.healthy);
  return metrics;
}

/** Gates that set others; off unless someone sets them. */
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

/** What is counted elsewhere is brought up to date whenever somebody asks for the metrics. */
export function tellCounts(metrics: ProxyMetrics, { loop, mode }: RunningProxy): void {
  metrics.beforeText(() => {
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

/** What ipvs counts is read when somebody asks for the metrics. */
export function tellServers(metrics: ProxyMetrics, { mode }: RunningProxy): void {
  metrics.readServers(async options => mode.statistics?.(options));
}

/** So is what went through the proxies of userspace mode. */
export function tellServices(metrics: ProxyMetrics, { mode }: RunningProxy): void {
  metrics.readServices(() => mode.counters?.() ?? []);
}

/** So are connections, where the kernel was asked to count them. */
export function tellConnections(metrics: ProxyMetrics, { mode }: RunningProxy): void {
  const { connections } = mode;
  if (connections) metrics.readConnections(() => connections.call(mode));
}
