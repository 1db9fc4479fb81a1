import {
  conditionNote,
  conditionStatus,
  type FamilyStatus,
  type ProxyStatus,
  processStatus,
} from '../inspect/index.ts';
import { KUBERNETES_VERSION } from '../lib/kubernetes-version.ts';
import type { ConfiguredMode } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import type { DemoRecord } from './demo-record.ts';

export interface DemoStatusParts {
  readonly proxy: RunningProxy;
  readonly record: DemoRecord;
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly mode: ConfiguredMode;
  /** The version of Pointsman. */
  readonly version: string;
  readonly problems: number;
}

/** The demo has no health server. It is ready when both families are synced. */
export function demoStatus(parts: DemoStatusParts): ProxyStatus {
  const { proxy, record, mode } = parts;
  const families = parts.families.map(family => familyStatus(family, parts));
  const condition = proxy.mode.condition?.();
  const isHealthy = families.every(({ healthy }) => healthy);
  return {
    version: parts.version,
    kubernetesVersion: KUBERNETES_VERSION,
    node: parts.nodeName,
    mode: mode.descriptor.name,
    source: 'manifests',
    ...processStatus(),
    alive: true,
    ready: isHealthy,
    healthy: isHealthy,
    nodeEligible: isHealthy,
    pending: proxy.loop.isPending,
    families,
    checks: condition ? [{ name: condition.name, ready: true, note: conditionNote(condition), problems: [] }] : [],
    condition: conditionStatus(condition),
    syncs: record.run.syncs,
    failedSyncs: record.run.failedSyncs,
    drift: record.run.drift,
    watches: [],
    problems: parts.problems,
  };
}

function familyStatus(family: Family, { proxy, record }: DemoStatusParts): FamilyStatus {
  const { syncedAt, error } = record.family(family);
  const setAside = proxy.mode.setAside().filter(port => port.family === family).length;
  const { planner } = proxy.loop.state.family(family);
  return {
    family,
    alive: true,
    healthy: syncedAt !== undefined && error === undefined,
    lastSync: syncedAt === undefined ? undefined : new Date(syncedAt).toISOString(),
    error,
    servicePorts: { programmed: planner.size - setAside, setAside },
    conflicts: planner.conflictCount,
  };
}
