import {
  type CheckStatus,
  conditionStatus,
  type FamilyStatus,
  type ProxyStatus,
  processStatus,
  type RunRecord,
  type WatchStatus,
} from '../inspect/index.ts';
import { systemClock } from '../lib/clock.ts';
import { type CheckResult, readinessResults } from '../observe/health/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import type { RunParts } from './run.ts';

/** `/v1/problems` has them all. */
const MAX_PROBLEMS = 5;

export function proxyStatus(parts: RunParts, proxy: RunningProxy, record: RunRecord): ProxyStatus {
  const { options, observability, objects, nodeName, mode } = parts;
  const { health, checks, input } = observability;
  const results = readinessResults({ health, checks, clock: systemClock });
  return {
    version: options.version,
    kubernetesVersion: options.kubernetesVersion,
    node: nodeName,
    mode: mode.descriptor.name,
    source: options.manifests === undefined ? 'cluster' : 'manifests',
    ...processStatus(),
    alive: health.alive,
    ready: results.every(({ isReady }) => isReady),
    healthy: health.healthy,
    nodeEligible: health.nodeEligible,
    pending: proxy.loop.isPending,
    programmed: options.manifests === undefined ? parts.programmed.state(proxy.loop.isPending).programmed : undefined,
    families: familyStatuses(parts, proxy),
    checks: results.map(checkStatus),
    condition: conditionStatus(proxy.mode.condition?.()),
    syncs: record.syncs,
    failedSyncs: record.failedSyncs,
    drift: record.drift,
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
    const { planner } = loop.state.family(family);
    return {
      family,
      alive,
      healthy,
      lastSync: lastUpdated === undefined ? undefined : timeText(lastUpdated),
      pendingSeconds: pendingMs === undefined ? undefined : Math.round(pendingMs / 1000),
      error,
      servicePorts: { programmed: planner.size - setAside, setAside },
      conflicts: planner.conflictCount,
    };
  });
}

function checkStatus({ name, isReady, note, problems = [] }: CheckResult): CheckStatus {
  return { name, ready: isReady, note, problems: problems.slice(0, MAX_PROBLEMS) };
}
