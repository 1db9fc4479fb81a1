import { type Event, type EventContent, eventKey, microTime } from './event.ts';

/** An Event that occurs again within this time belongs to the same series. */
const QUIET_MS = 6 * 60_000;
/** How often the recorder writes the count of a series that goes on. */
const REFRESH_MS = 30 * 60_000;
const MAX_KNOWN = 500;

/** An Event, and how often it occurred. */
export interface KnownEvent {
  readonly first: Event;
  count: number;
  lastSeen: number;
  /** The count that the API server has. */
  sentCount: number;
  sentAt: number;
}

/** The Events of the last minutes. A repeated Event is counted instead of written. */
export class KnownEvents {
  readonly #known = new Map<string, KnownEvent>();

  get size(): number {
    return this.#known.size;
  }

  /** Counts a repeated Event and returns it. Returns undefined if the Event is new. */
  countRepeat(content: EventContent, now: number): KnownEvent | undefined {
    const known = this.#known.get(eventKey(content));
    if (!known || now - known.lastSeen >= QUIET_MS) return undefined;
    known.count++;
    known.lastSeen = now;
    return known;
  }

  add(content: EventContent, first: Event, now: number): KnownEvent {
    const known = { first, count: 1, lastSeen: now, sentCount: 0, sentAt: now };
    const key = eventKey(content);
    // Deleting it first keeps the map in the order of age.
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }

  /**
   * Returns the Events whose count must be written: of long series, and of series that are over. Forgets the latter.
   */
  takeDue(now: number): KnownEvent[] {
    const due: KnownEvent[] = [];
    for (const [key, known] of this.#known) {
      const isOver = now - known.lastSeen >= QUIET_MS;
      const isBehind = known.sentCount > 0 && known.count > known.sentCount;
      if (isBehind && (isOver || now - known.sentAt >= REFRESH_MS)) due.push(known);
      if (isOver) this.#known.delete(key);
    }
    return due;
  }
}

/** The Event with its current count. From the second occurrence on it has a series. */
export function currentEvent({ first, count, lastSeen }: KnownEvent): Event {
  if (count < 2) return first;
  return { ...first, series: { count, lastObservedTime: microTime(BigInt(Math.round(lastSeen)) * 1_000_000n) } };
}
