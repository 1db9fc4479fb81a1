import type {
  ConditionStatus,
  DriftStatus,
  MemoryStatus,
  ProxyStatus,
  SyncStatus,
  WatchStatus,
} from '../../inspect/index.ts';

export const STATUS_REPORT_SCHEMA = 'pointsman.statusReport/v1';

/** What `kube-proxy status` found out. Fields that no server reported are absent. */
export interface StatusReport {
  readonly schema: typeof STATUS_REPORT_SCHEMA;
  /** `unknown` if no proxy answered. */
  readonly verdict: 'healthy' | 'unhealthy' | 'unknown';
  readonly node: string;
  /** `Pointsman` or `kube-proxy`, which is upstream's. */
  readonly program?: string;
  /** The version of Pointsman. */
  readonly version?: string;
  readonly kubernetesVersion?: string;
  readonly mode?: string;
  readonly pid?: number;
  readonly startedAt?: string;
  readonly uptimeSeconds?: number;
  readonly alive?: boolean;
  readonly ready?: boolean;
  /** Whether load balancers may send traffic to the node. */
  readonly nodeEligible?: boolean;
  /** Some changes are not in the kernel yet. */
  readonly pending?: boolean;
  /** Everything up to these resource versions is in the kernel. */
  readonly programmed?: NonNullable<ProxyStatus['programmed']>;
  readonly families: readonly FamilyStatus[];
  /** The newest first. */
  readonly syncs?: readonly SyncStatus[];
  readonly failedSyncs?: number;
  readonly driftRepairs?: number;
  readonly lastRepair?: DriftStatus['last'];
  readonly memory?: MemoryStatus;
  /** The watches at the API server. Absent if manifests replace it. */
  readonly watches?: readonly WatchStatus[];
  /** The checks of `/readyz`. */
  readonly checks: readonly CheckStatus[];
  /** The state of an extra part of the mode. */
  readonly condition?: ConditionStatus;
  /** The servers that were asked. */
  readonly servers: {
    readonly socket?: ServerStatus;
    readonly health?: ServerStatus;
    readonly metrics?: ServerStatus;
  };
}

export interface FamilyStatus {
  readonly family: string;
  readonly healthy: boolean;
  /** Absent if no sync has succeeded yet. */
  readonly lastSyncSeconds?: number;
  readonly programmed?: number;
  readonly setAside?: number;
  /** Why the last sync failed. */
  readonly error?: string;
}

export interface CheckStatus {
  readonly passed: boolean;
  readonly text: string;
}

export interface ServerStatus {
  /** Address and port, or a path. */
  readonly address: string;
  /** Why the server did not answer. */
  readonly reason?: string;
}
