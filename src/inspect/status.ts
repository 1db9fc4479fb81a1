import type { Problem } from '../lib/problem.ts';
import type { ModeCondition } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { ResourceVersions } from '../proxy/index.ts';
import { objectAnswer } from './answers.ts';
import type { Route } from './route.ts';

/** How the proxy is. Times are texts in the form of RFC 3339. Fields without a value are absent. */
export interface ProxyStatus {
  /** The version of Pointsman. */
  readonly version: string;
  readonly kubernetesVersion: string;
  readonly node: string;
  readonly mode: string;
  /** Where the objects come from. */
  readonly source: 'cluster' | 'manifests';
  readonly pid: number;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  /** What `/livez` answers. If not, the kubelet restarts the pod. */
  readonly alive: boolean;
  /** Whether all checks of `/readyz` pass. */
  readonly ready: boolean;
  /** Whether all families are synced, and nothing is late. */
  readonly healthy: boolean;
  /** Whether load balancers may send traffic to the node. */
  readonly nodeEligible: boolean;
  /** Some changes that the proxy has received are not in the kernel yet. */
  readonly pending: boolean;
  /** Everything up to these resource versions is in the kernel, except what is set aside. Absent with manifests. */
  readonly programmed?: ResourceVersions | undefined;
  readonly families: readonly FamilyStatus[];
  readonly checks: readonly CheckStatus[];
  /** The state of an extra part of the mode. Absent if the mode has none. */
  readonly condition?: ConditionStatus | undefined;
  /** The last ten, the newest first. */
  readonly syncs: readonly SyncStatus[];
  readonly failedSyncs: number;
  readonly drift: DriftStatus;
  readonly memory: MemoryStatus;
  readonly watches: readonly WatchStatus[];
  readonly problems: number;
}

export interface FamilyStatus {
  readonly family: Family;
  readonly alive: boolean;
  readonly healthy: boolean;
  /** When a sync last succeeded. */
  readonly lastSync?: string | undefined;
  readonly pendingSeconds?: number | undefined;
  /** Why the last sync failed. */
  readonly error?: string | undefined;
  readonly servicePorts: { readonly programmed: number; readonly setAside: number };
  /** How many addresses Services ask for although another Service has them. */
  readonly conflicts: number;
}

/** A check of `/readyz`. */
export interface CheckStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly note?: string | undefined;
  /** The first few. */
  readonly problems: readonly Problem[];
}

export interface ConditionStatus {
  /** `sockets` */
  readonly name: string;
  /** If not, the network serves alone. */
  readonly serving: boolean;
  /** What the part does, or why it does not serve. */
  readonly note: string;
}

export function conditionStatus(condition: ModeCondition | undefined): ConditionStatus | undefined {
  return condition && { name: condition.name, serving: condition.isServing, note: condition.note };
}

/** The condition as the note of a check. The proxy is ready in any case, because the network serves too. */
export function conditionNote({ isServing, note }: ModeCondition): string {
  return isServing ? `serving: ${note}` : `not serving: ${note}`;
}

export interface SyncStatus {
  readonly at: string;
  readonly family: Family;
  readonly full: boolean;
  readonly servicePorts: number;
  readonly milliseconds: number;
  /** Why it failed. */
  readonly error?: string | undefined;
}

export interface DriftStatus {
  readonly repairs: number;
  readonly last?: {
    readonly at: string;
    readonly family: Family;
    /** What another program did. */
    readonly cause: string;
    /** What the repair wrote. */
    readonly written: string;
  };
}

/** In bytes. */
export interface MemoryStatus {
  readonly resident: number;
  readonly heapUsed: number;
  readonly external: number;
}

export interface WatchStatus {
  readonly path: string;
  readonly synced: boolean;
  /** Absent before the first data. */
  readonly silentSeconds?: number | undefined;
  readonly problem?: string | undefined;
}

/** The part of a status that is about this process. */
export function processStatus(): Pick<ProxyStatus, 'pid' | 'startedAt' | 'uptimeSeconds' | 'memory'> {
  const uptime = process.uptime();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    pid: process.pid,
    startedAt: new Date(Date.now() - 1000 * uptime).toISOString(),
    uptimeSeconds: Math.round(uptime),
    memory: { resident: rss, heapUsed, external },
  };
}

export const STATUS_SCHEMA = 'pointsman.status/v1';

export function statusRoute(status: () => ProxyStatus): Route {
  return {
    path: '/v1/status',
    about: 'version, mode, checks, last syncs, drift, memory and watches',
    answer: () => objectAnswer(STATUS_SCHEMA, status()),
  };
}
