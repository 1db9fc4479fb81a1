import { errorText } from '../lib/error-text.ts';
import type { LocalDetector, NodePortAddresses } from '../model/index.ts';
import type { Family, Ip } from '../net/index.ts';
import type { MetricSet } from '../observe/metrics/index.ts';
import type { EndedEndpoint, PlanDiff, ServicePortPlan } from '../plan/index.ts';
import type { Listing } from './listing.ts';
import type { KernelReading } from './read-back.ts';
import type { SetAside } from './set-aside.ts';
import type { ServicePortTraffic } from './traffic/index.ts';

/** What every mode needs to know besides the plans, for one family. */
export interface ModeSettings {
  readonly localDetector: LocalDetector | undefined;
  readonly masqueradeAll: boolean;
  /** The bit of the packet mark that asks for masquerading, as a mask. */
  readonly masqueradeMark: number;
  readonly nodePortAddresses: NodePortAddresses;
  /** The addresses of this machine that accept node ports, if not all do. */
  readonly nodePortIPs: readonly Ip[];
  /** The ranges of cluster IPs, of both families. */
  readonly serviceCIDRs: readonly string[];
  /** How many endpoints all service ports have, usable or not. Without it, a mode counts the endpoints in the plans. */
  readonly endpointCount?: (() => number) | undefined;
  /** How often a mode looks for drift if the kernel does not notify it. */
  readonly syncPeriodMs?: number | undefined;
}

/** The default of `syncPeriodMs`. */
export const SYNC_PERIOD_MS = 30_000;

/** What a mode measured, for metrics. */
export type Measure =
  /** One exchange with the kernel, or one run of a program that speaks to it. */
  | { readonly kind: 'batch'; readonly objects: number; readonly milliseconds: number }
  /** The kernel, or the program that speaks to it, refused what a sync wrote. */
  | { readonly kind: 'refused'; readonly full: boolean }
  /** The mode could not remove leftovers. */
  | { readonly kind: 'cleanup-failed' }
  /** How many rules the mode has in a table, and how many the last sync wrote. */
  | { readonly kind: 'rules'; readonly table: 'filter' | 'nat'; readonly total: number; readonly last: number };

/** Receives what a mode measures. */
export type MeasureObserver = (family: Family, measure: Measure) => void;

/** A repair of what another program changed. */
export interface Repair {
  /** What the other program did, as far as the mode knows. */
  readonly cause: string;
  /** What the repair wrote. */
  readonly written: string;
}

/** Something that failed beside a sync. The mode goes on. */
export interface ModeFailure {
  readonly family?: Family | undefined;
  /** What the mode could not do, with a verb: `repair the IPv4 rules`. */
  readonly action: string;
  /** Upstream's log line about this failure. Without it, the line is `Could not` and the action. */
  readonly upstreamLine?: string | undefined;
  readonly error: unknown;
  /** The kernel may lack rules until the next sync of the family succeeds. */
  readonly needsSync?: boolean | undefined;
}

/** What a mode reports while it works. */
export interface ModeEvents {
  /** How far a long sync is, in service ports. */
  progress(family: Family, done: number, of: number): void;
  setAside(port: SetAside): void;
  driftRepaired(family: Family, repair: Repair): void;
  failed(failure: ModeFailure): void;
  measured(family: Family, measure: Measure): void;
  /** Something that an operator should know although nothing failed. */
  notice(family: Family, message: string): void;
  /** The condition of the mode may have changed. `Mode.condition` has it. */
  conditionChanged?(): void;
  /** The mode opened or closed a socket of its own for a service port. */
  listener?(family: Family, event: ListenerEvent): void;
}

export type ListenerEvent =
  | { readonly kind: 'opened'; readonly protocol: 'TCP' | 'UDP'; readonly port: number; readonly endpoints: number }
  | { readonly kind: 'closed'; readonly protocol: 'TCP' | 'UDP'; readonly port: number };

/** Whether an extra part of a mode serves. The mode serves in another way where it does not. */
export interface ModeCondition {
  /** The name of the part: `sockets`. */
  readonly name: string;
  readonly isServing: boolean;
  /** What the part does, or why it does not. */
  readonly note: string;
}

/** A TCP socket of this machine that the mode led to an endpoint. */
export interface ConnectedSocket {
  /** The address of the Service that the program asked for. */
  readonly service: SocketAddress;
  readonly endpoint: SocketAddress;
  /** The address of the socket itself. Undefined if the kernel does not report it. */
  readonly caller: SocketAddress | undefined;
  /** The socket is in the network namespace of the node. */
  readonly isOfNode: boolean;
  /** As `ss` prints it: `ESTAB`, `SYN-SENT`. Undefined if the kernel does not report it. */
  readonly state: string | undefined;
}

export interface SocketAddress {
  readonly ip: Ip;
  readonly port: number;
}

export interface SocketReading {
  /** Made while the caller takes them: a node may have 100,000. */
  readonly sockets: Iterable<ConnectedSocket>;
  readonly count: number;
  /** Why there are no sockets, or not all. Undefined otherwise. */
  readonly incomplete?: string | undefined;
}

export interface SyncReport {
  /** The sync compared everything, not only what changed. */
  readonly full: boolean;
}

/** A sync failed. The next one writes what this one could not. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  readonly full: boolean;

  constructor(full: boolean, cause: unknown) {
    super(errorText(cause), { cause });
    this.full = full;
  }
}

/** How one mode writes plans to the kernel. */
export interface Mode {
  /**
   * Writes what changed. The first sync adopts what an earlier run of this mode left. Rejects with a `SyncError` if the
   * kernel does not have the plans; the next call then writes these plans too.
   */
  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport>;
  /** The service ports that are not programmed. */
  setAside(): readonly SetAside[];
  /**
   * What the kernel holds for a service port, beside what the mode wants. Changes nothing, reads only what belongs to this
   * service port, and does not wait for syncs or make them wait.
   */
  readBack(family: Family, plan: ServicePortPlan): Promise<KernelReading>;
  /**
   * The program that the mode wants in the kernel, with the lines of one Service. Without plans it only counts the lines
   * of Services. Reads nothing from the kernel, and does not wait for syncs or make them wait.
   */
  listing(family: Family, plans: readonly ServicePortPlan[]): Promise<Listing>;
  /**
   * How many connections each Service got so far, by `ns/name`. Services without any may be missing. Undefined if the mode
   * does not count, or could not read the counters.
   */
  connectionCounts?(): Promise<ReadonlyMap<string, number> | undefined>;
  /**
   * The traffic of service ports. Undefined if the mode does not count. Reads the kernel once for all of them, and does not
   * wait for syncs or make them wait.
   */
  traffic?(): Promise<readonly ServicePortTraffic[] | undefined>;
  /** The state of an extra part of the mode. Undefined if the mode has none. */
  condition?(): ModeCondition | undefined;
  /**
   * The sockets that the mode led to endpoints, of all network namespaces. Undefined if the mode does not translate at
   * sockets. Does not wait for syncs or make them wait.
   */
  sockets?(): Promise<SocketReading | undefined>;
  /**
   * Ends connections to these endpoints that only the mode knows: those that it relays, which it resets, and those in
   * tables of the kernel. Returns how many of the former each endpoint had. Most modes have neither.
   */
  endConnections?(ended: readonly EndedEndpoint[]): Promise<ReadonlyMap<EndedEndpoint, number> | undefined>;
  /** Shows what only this mode can measure. */
  registerMetrics(metrics: MetricSet): void;
  /** Whether iptables had this chain before the first sync. Only modes that listed the chains anyway know it. */
  readonly hadChain?: ((chain: string) => boolean) | undefined;
  /** Stops. What is programmed stays, unless the mode cannot serve it without its process. */
  close(): Promise<void>;
}

/** For callers that do not want reports. */
export const SILENT_EVENTS: ModeEvents = {
  progress: () => {},
  setAside: () => {},
  driftRepaired: () => {},
  failed: () => {},
  measured: () => {},
  notice: () => {},
};
