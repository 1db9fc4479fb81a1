import type { Family } from '../net/index.ts';

/**
 * start           the proxy started
 * listed          the source has delivered its first objects
 * change          the plan of a Service changed, or its objects did
 * changes         a sync had very many changes; this entry is for those without an entry of their own
 * sync            something about a sync as a whole
 * syncFailed      a sync failed; the proxy retries it
 * repair          the mode repaired what another program changed
 * setAside        the kernel refused a service port
 * ended           connections of an endpoint that is gone were ended
 * configuration   the configuration changed, or the proxy refused the changed file
 * watchFailed     the proxy could not watch a resource
 * watchRecovered  the proxy watches it again
 * node            the Node changed
 * serviceCidr     a ServiceCIDR changed
 * problem         an object or a manifest cannot be used
 * recovered       a problem is over
 */
export type EntryKind =
  | 'start'
  | 'listed'
  | 'change'
  | 'changes'
  | 'sync'
  | 'syncFailed'
  | 'repair'
  | 'setAside'
  | 'ended'
  | 'configuration'
  | 'watchFailed'
  | 'watchRecovered'
  | 'node'
  | 'serviceCidr'
  | 'problem'
  | 'recovered';

/** waiting: not in the kernel yet. setAside: the kernel refused a port of the Service. none: nothing to write. */
export type WriteState = 'waiting' | 'written' | 'setAside' | 'none';

/** One thing that happened. The entry of a change gets its last fields when the kernel has the change. */
export interface Entry {
  /** Later entries have larger numbers. */
  readonly id: number;
  readonly kind: EntryKind;
  /** When the proxy received the event, in milliseconds since 1970. */
  readonly at: number;
  /** `Service default/web`, or a path of the API. Empty if it is about no object. */
  readonly object: string;
  /** `ns/name` of the Service. Empty if it is about no Service. */
  readonly service: string;
  readonly family: Family | undefined;
  /** What changed, or what happened. */
  readonly change: string;
  /** What made it happen: `EndpointSlice web-x7k updated`. Empty if that is not known. */
  readonly cause: string;
  /** When the cause of an endpoint change happened, as the EndpointSlice says, in milliseconds since 1970. */
  readonly triggeredAt: number | undefined;
  readonly state: WriteState;
  /** From the event to the plan. */
  readonly plannedMs: number | undefined;
  /** From the event until the kernel had the change. */
  readonly writtenMs: number | undefined;
  /** How long the sync took that wrote it. */
  readonly syncMs: number | undefined;
  /** Whether that sync compared everything, and not only what changed. */
  readonly isFullSync: boolean | undefined;
  /** How often the same happened in a row. */
  readonly count: number;
  /** When it happened last, in milliseconds since 1970. */
  readonly lastAt: number;
}

export type MutableEntry = { -readonly [Field in keyof Entry]: Entry[Field] } & {
  /** When the proxy received the event, on a clock that never jumps. */
  receivedAt: number;
};

/** Longer texts are cut. */
export const MAX_TEXT = 400;

/** The numbers of an entry and the headers of its texts. */
const FIXED_BYTES = 320;

/** An upper bound of the memory that an entry takes: a text may need two bytes for each character. */
export function entryBytes({ object, service, change, cause }: Entry): number {
  return FIXED_BYTES + 2 * (object.length + service.length + change.length + cause.length);
}
