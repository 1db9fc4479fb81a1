import type { Clock } from '../../src/lib/clock.ts';
import { FAMILIES } from '../../src/net/index.ts';
import { type BuildInfo, ProxyMetrics } from '../../src/observe/metrics/index.ts';
import { parsePrometheusText } from './prometheus-text.ts';

export const BUILD: BuildInfo = {
  major: '1',
  minor: '36',
  git_version: 'v1.36.4',
  git_commit: 'abc',
  git_tree_state: 'clean',
  build_date: '2026-01-01T00:00:00Z',
  go_version: 'none',
  compiler: 'esbuild',
  platform: 'linux/amd64',
};

/** The metrics of a proxy. The test must close them. */
export function createMetrics(hasPartialSyncMetrics: boolean, clock: Clock): ProxyMetrics {
  const features = [
    { name: 'KubeProxyDrainingTerminatingNodes', stage: '', enabled: true },
    { name: 'AllAlpha', stage: 'ALPHA', enabled: false },
  ];
  return new ProxyMetrics({ hasPartialSyncMetrics, clock, build: BUILD, features });
}

/** Gives every metric that all modes have a sample, for each family. */
export function measureEverything(metrics: ProxyMetrics): void {
  for (const family of FAMILIES) {
    metrics.syncQueued(family);
    metrics.syncFinished(family, 0.1, { full: true, success: true });
    metrics.syncFinished(family, 0.1, { full: false, success: false });
    metrics.networkProgramming(family, 1.5);
    metrics.noLocalEndpoints(family, 'internal', 1);
    metrics.noLocalEndpoints(family, 'external', 0);
    metrics.conntrackReconciled(family, 0.01, 0);
    metrics.kernelBatch(family, 1000, 0.02);
    metrics.kernelRefused(family);
    metrics.servicePorts(family, { programmed: 12, setAside: 2 });
    metrics.setAside(family, 'EEXIST');
    metrics.setAside(family, undefined);
    metrics.driftRepaired(family);
    metrics.connectionsEnded(family, 3);
    metrics.endpointEjected(family);
    metrics.connectionEventsLost();
  }
  metrics.changes({ endpointSlices: 1, services: 1, pendingEndpoints: 1, pendingServices: 1 });
  metrics.healthz(200);
  metrics.healthz(503);
  metrics.livez(200);
  metrics.readHealth(() => false);
  metrics.inputProblem('Service', 'invalid');
  metrics.readInputProblems(() => 1);
  metrics.watchMessage('nodes');
  metrics.configurationRefused();
  const api = { verb: 'GET', host: 'api:6443' };
  metrics.restObserved({ kind: 'attempt', ...api, code: '<error>', retry: false });
  metrics.restObserved({ kind: 'attempt', ...api, code: '200', retry: true });
  metrics.restObserved({
    kind: 'request',
    ...api,
    code: '200',
    milliseconds: 100,
    requestBytes: 0,
    responseBytes: 5000,
  });
  metrics.restObserved({ kind: 'rate-limited', ...api, milliseconds: 200 });
}

/** Reads all metrics once. Returns a function that finds a sample by its name and labels. */
export async function reader(metrics: ProxyMetrics) {
  const samples = [...parsePrometheusText(await metrics.text()).values()].flatMap(family => family.samples);
  const key = (labels: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(labels).sort());
  return (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
    samples.find(sample => sample.name === name && key(sample.labels) === key(labels))?.value;
}
