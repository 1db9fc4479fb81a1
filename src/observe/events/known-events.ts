import { type Event, type EventContent, eventKey, microTime } from './event.ts';

/** One that comes again within this time is the same one again. */
const QUIET_MS = 6 * 60_000;
/** While it goes on, the API is told this often how far it is. */
const REFRESH_MS = 30 * 60_000;
const MOST_KNOWN = 500;

/** An Event, and how often it came. */
export interface KnownEvent {
  readonly first: Event;
  count: number;
  lastSeen: number;
  /** What the API knows. */
  sentCount: number;
  sentAt: number;
}

/** Events that may come again, so that repeats are counted instead of written. */
export class KnownEvents {
  readonly #known = new Map<string, KnownEvent>();

  get size(): number {
    return this.#known.size;
  }

  /** The Event that this one repeats, counted, or undefined if it is a new one. */
  again(content: EventContent, now: number): KnownEvent | undefined {
    const known = this.#known.get(eventKey(content));
    if (!known || now - known.lastSeen >= QUIET_MS) return undefined;
    known.count++;
    known.lastSeen = now;
    return known;
  }

  add(content: EventContent, first: Event, now: number): KnownEvent {
    const known = { first, count: 1, lastSeen: now, sentCount: 0, sentAt: now };
    const key = eventKey(content);
    // Deleted first, so that the map stays in the order of age.
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }

  /** Those whose count the API should be told: long running ones, and ones that are over, which are forgotten. */
  due(now: number): KnownEvent[] {
    const due: KnownEvent[] = [];
    for (const [key, known] of this.#known) {
      const over = now - known.lastSeen >= QUIET_MS;
      const behind = known.sentCount > 0 && known.count > known.sentCount;
      if (behind && (over || now - known.sentAt >= REFRESH_MS)) due.push(known);
      if (over) this.#known.delete(key);
    }
    return due;
  }
}

/** As it is written now: a series from the second time on. */
export function currentEvent({ first, count, lastSeen }: KnownEvent): Event {
  if (count < 2) return first;
  return { ...first, series: { count, lastObservedTime: microTime(BigInt(Math.round(lastSeen)) * 1_000_000n) } };
}
