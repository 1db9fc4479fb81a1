import type { CheckStatus, FamilyStatus, ProxyStatus, WatchStatus } from '../inspect/index.ts';
import { systemClock } from '../lib/clock.ts';
import { type CheckResult, readinessResults } from '../observe/health/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import type { RunParts } from './run.ts';
import type { RunRecord } from './run-record.ts';

/** `/v1/problems` has them all. */
const MAX_PROBLEMS = 5;

export function proxyStatus(parts: RunParts, proxy: RunningProxy, record: RunRecord): ProxyStatus {
  const { options, observability, objects, nodeName, mode } = parts;
  const { health, checks, input } = observability;
  const results = readinessResults({ health, checks, clock: systemClock });
  const uptime = process.uptime();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    version: options.version,
    kubernetesVersion: options.kubernetesVersion,
    node: nodeName,
    mode: mode.descriptor.name,
    source: options.manifests === undefined ? 'cluster' : 'manifests',
    pid: process.pid,
    startedAt: timeText(Date.now() - 1000 * uptime),
    uptimeSeconds: Math.round(uptime),
    alive: health.alive,
    ready: results.every(({ isReady }) => isReady),
    healthy: health.healthy,
    nodeEligible: health.nodeEligible,
    pending: proxy.loop.isPending,
    families: familyStatuses(parts, proxy),
    checks: results.map(checkStatus),
    syncs: record.syncs,
    failedSyncs: record.failedSyncs,
    drift: driftStatus(record),
    memory: { resident: rss, heapUsed, external },
    watches: objects.watches().map(
      ({ path, hasSynced, silentMs, problem }): WatchStatus => ({
        path,
        synced: hasSynced,
        silentSeconds: silentMs === undefined ? undefined : Math.round(silentMs / 1000),
        problem: problem?.message,
      }),
    ),
    problems: input.all.length,
  };
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function familyStatuses({ observability }: RunParts, { loop, mode }: RunningProxy): readonly FamilyStatus[] {
  const aside = mode.setAside();
  return [...observability.health.families()].map(([family, { alive, healthy, lastUpdated, pendingMs, error }]) => {
    const setAside = aside.filter(port => port.family === family).length;
    return {
      family,
      alive,
      healthy,
      lastSync: lastUpdated === undefined ? undefined : timeText(lastUpdated),
      pendingSeconds: pendingMs === undefined ? undefined : Math.round(pendingMs / 1000),
      error,
      servicePorts: { programmed: loop.state.family(family).planner.size - setAside, setAside },
    };
  });
}

function checkStatus({ name, isReady, note, problems = [] }: CheckResult): CheckStatus {
  return { name, ready: isReady, note, problems: problems.slice(0, MAX_PROBLEMS) };
}

function driftStatus({ repairs, lastRepair }: RunRecord): ProxyStatus['drift'] {
  if (!lastRepair) return { repairs };
  const { time, family, cause, written } = lastRepair;
  return { repairs, last: { at: timeText(time), family, cause, written } };
}
