import type { Place } from '../explain/index.ts';
import type { HistoryRow } from './history.ts';
import type { ServiceRow } from './services-row.ts';
import type { ProxyStatus } from './status.ts';

/**
 * What `/v1/live` sends, as server-sent events. The name of an event is its `kind`, and its data is the object as JSON.
 * A reader first opens this stream and then asks for lists. So it misses nothing in between.
 */
export type LiveEvent =
  | HelloEvent
  | StatusEvent
  | RowsEvent
  | ConnectionsEvent
  | HistoryEvent
  | RelistEvent
  | PulseEvent
  | ObservedEvent;

/** The first event of every stream. */
export interface HelloEvent {
  readonly kind: 'hello';
  /** Identifies the run of the proxy. Another value after a reconnect means that nothing from before counts. */
  readonly run: string;
  readonly node: string;
  readonly mode: string;
  /** The id of the newest entry of the history. */
  readonly historyId: number;
  /** The last minutes, one for each second in which something happened, the oldest first. */
  readonly pulse: readonly Pulse[];
  readonly countsConnections: boolean;
  /** The mode leads sockets, so `/v1/sockets` can list them. */
  readonly listsSockets: boolean;
}

/** At most once a second, and only if something in it changed. */
export interface StatusEvent {
  readonly kind: 'status';
  readonly status: ProxyStatus;
}

/** Services that changed. */
export interface RowsEvent {
  readonly kind: 'rows';
  readonly rows: readonly ServiceRow[];
  /** `ns/name` of Services that are gone. */
  readonly removed: readonly string[];
}

/** Counters that changed since the last event. */
export interface ConnectionsEvent {
  readonly kind: 'connections';
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `ns/name`, and the connections so far. */
  readonly counts: readonly (readonly [service: string, connections: number])[];
}

/** Entries that are complete. */
export interface HistoryEvent {
  readonly kind: 'history';
  readonly entries: readonly HistoryRow[];
}

/** So much changed, or the reader was so slow, that it must ask for the list of Services, and the history, again. */
export interface RelistEvent {
  readonly kind: 'relist';
}

export interface PulseEvent {
  readonly kind: 'pulse';
  readonly pulse: Pulse;
}

/** What happened in one second. */
export interface Pulse {
  /** The beginning of the second, in milliseconds since 1970. */
  readonly at: number;
  readonly syncs: number;
  readonly failedSyncs: number;
  /** The longest sync. */
  readonly syncMs: number;
  /** The longest time from the event of an object until the kernel had it. Undefined if nothing was written. */
  readonly latencyMs?: number | undefined;
  readonly changes: number;
}

/** Real connections that the demo made. */
export interface ObservedEvent {
  readonly kind: 'observed';
  readonly connections: readonly ObservedConnection[];
}

export interface ObservedConnection {
  /** `ns/name` */
  readonly service: string;
  readonly from: Place;
  /** `ip:port` that the caller connected to. */
  readonly to: string;
  readonly protocol: string;
  /** `ip:port` of the endpoint that answered. Undefined if none did; then `failure` says how it failed. */
  readonly endpoint?: string | undefined;
  readonly failure?: string | undefined;
  /** How the endpoint saw the caller: `itself`, `node` or another address. */
  readonly seenAs?: string | undefined;
  /** So many in the last round. */
  readonly count: number;
  readonly isAsPlanned: boolean;
}
