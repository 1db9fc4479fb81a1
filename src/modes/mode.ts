import type { Protocol } from '../api/index.ts';
import type { LocalDetector, NodePortAddresses } from '../model/index.ts';
import type { Family, Ip } from '../net/index.ts';
import type { PlanDiff } from '../plan/index.ts';
import type { ServerStatistics, StatisticsOptions } from './server-statistics.ts';

/** What every mode needs to know besides the plans, for one family. */
export interface ModeSettings {
  readonly localDetector: LocalDetector | undefined;
  readonly masqueradeAll: boolean;
  /** The bit of the packet mark that asks for masquerading, as a mask. */
  readonly masqueradeMark: number;
  readonly nodePortAddresses: NodePortAddresses;
  /** This machine's addresses that accept node ports, where not all do. */
  readonly nodePortIPs: readonly Ip[];
  /** Ranges that cluster IPs come from, of both families. */
  readonly serviceCIDRs: readonly string[];
  /** How many endpoints all service ports have, usable or not. Where it is not known, those that plans use count. */
  readonly endpointCount?: (() => number) | undefined;
  /** How often a mode that hears of no changes by others looks for them. */
  readonly syncPeriodMs?: number | undefined;
}

/** Where it is not told. */
export const SYNC_PERIOD_MS = 30_000;

/** A service port that the kernel refused; the others are programmed. It is tried again when it changes. */
export interface SetAside {
  readonly family: Family;
  /** `ns/name:port` */
  readonly servicePort: string;
  readonly error: string;
}

/** What a mode measured, for metrics. */
export type Measure =
  /** One exchange with the kernel, or one run of a program that speaks to it. */
  | { readonly kind: 'batch'; readonly objects: number; readonly milliseconds: number }
  /** The kernel, or the program that speaks to it, refused what a sync wanted. */
  | { readonly kind: 'refused'; readonly partial: boolean }
  /** What is no longer used could not be removed. */
  | { readonly kind: 'cleanup-failed' }
  /** Rules that are ours, and those written by the last sync. */
  | { readonly kind: 'rules'; readonly table: 'filter' | 'nat'; readonly total: number; readonly last: number };

/** New connections to one address and port of a service port. Begins anew when the frontend does. */
export interface FrontendConnections {
  readonly family: Family;
  /** `ns/name:port` */
  readonly servicePort: string;
  readonly connections: number;
}

/** What a mode tells while it works. */
export interface ModeEvents {
  /** How far a long sync is. */
  progress(family: Family, done: number, of: number): void;
  setAside(port: SetAside): void;
  /** Someone else changed what is ours, and it was put right. */
  driftRepaired(family: Family, what: string): void;
  /**
   * Something went wrong beside a sync; the mode goes on and tries again. `unwritten` is a family of which the kernel may
   * lack something until a sync succeeds.
   */
  failed(what: string, error: unknown, unwritten?: Family): void;
  measured(family: Family, measure: Measure): void;
  /** Something that an operator should know; nothing failed. */
  noticed(family: Family, what: string): void;
}

export interface SyncReport {
  /** Everything was looked at, not only what changed. */
  readonly full: boolean;
}

/** What went through one service port since it is there. Bytes towards the endpoints are `in`. */
export interface ServiceCounters {
  readonly family: Family;
  /** `ns/name:port` */
  readonly servicePort: string;
  readonly protocol: Protocol;
  /** TCP connections, or clients of UDP, that reached an endpoint. */
  readonly connections: number;
  /** Those that are there now. */
  readonly active: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Attempts at endpoints that did not succeed; the next may have. */
  readonly dialFailures: number;
  /** Connections, or datagrams, that nobody got: no endpoint took them, or there was no room. */
  readonly failures: number;
}

/** How one mode writes plans to the kernel. */
export interface Mode {
  /**
   * Writes what changed; the first time it takes over what a former run left. Rejects if nothing could be written; the
   * next call then tries that again too.
   */
  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport>;
  /** Service ports that are not programmed, with their errors. */
  setAside(): readonly SetAside[];
  /**
   * What the kernel counted so far, as it is read; nothing where it does not count. May break off with an error when
   * something is written meanwhile, and can be begun again.
   */
  connections?(): AsyncIterable<FrontendConnections>;
  /** Of modes through whose process connections go. One for each service port that is there now. */
  counters?(): readonly ServiceCounters[];
  /** What virtual and real servers carried, where the mode has such; it does not wait for a sync. */
  statistics?(options: StatisticsOptions): Promise<ServerStatistics | undefined>;
  /** Stops watching; what is programmed stays. */
  close(): Promise<void>;
}

/** For those who only look. */
export const SILENT_EVENTS: ModeEvents = {
  progress: () => {},
  setAside: () => {},
  driftRepaired: () => {},
  failed: () => {},
  measured: () => {},
  noticed: () => {},
};
