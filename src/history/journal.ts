import type { Clock } from '../lib/clock.ts';
import type { Family } from '../net/index.ts';
import { type Entry, type EntryKind, MAX_TEXT, type MutableEntry } from './entry.ts';
import { type Followed, Followers } from './followers.ts';
import { Ring, type RingLimits } from './ring.ts';
import { shortText } from './short-text.ts';

export interface EntryQuery {
  /** Only entries about these Services. Other entries, such as failed syncs, are left out then. */
  readonly service?: ((key: string) => boolean) | undefined;
  /** Only entries with a larger number. */
  readonly after?: number | undefined;
  /** Only entries that happened at this time or later, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** The newest ones, this many. */
  readonly limit?: number | undefined;
}

export type EntryFields = Partial<Omit<MutableEntry, 'id' | 'kind' | 'change'>>;

/** Keeps the entries, and hands them to followers. */
export class Journal {
  readonly #clock: Clock;
  readonly #ring: Ring;
  readonly #followers = new Followers();
  /** The last entry about a subject that may repeat itself: few subjects, such as the sync of a family. */
  readonly #last = new Map<string, MutableEntry>();
  /** The number of the first entry of a family that waits to be written. */
  readonly #firstWaiting = new Map<Family, number>();
  #nextId = 1;

  constructor(clock: Clock, limits: RingLimits) {
    this.#clock = clock;
    this.#ring = new Ring(limits);
  }

  get size(): number {
    return this.#ring.size;
  }

  get bytes(): number {
    return this.#ring.bytes;
  }

  get newestId(): number {
    return this.#nextId - 1;
  }

  /** The time of the oldest entry, if there were older ones. */
  get oldestAt(): number | undefined {
    const { first } = this.#ring;
    return first && first.id > 1 ? first.lastAt : undefined;
  }

  newestFirst(): Iterable<Entry> {
    return this.#ring.newestFirst();
  }

  /** The oldest first. */
  entries({ service, after = 0, since = 0, limit = Infinity }: EntryQuery): readonly Entry[] {
    const found: Entry[] = [];
    for (const entry of this.#ring.newestFirst()) {
      if (entry.id <= after || found.length >= limit) break;
      if (entry.lastAt < since || (service && (entry.service === '' || !service(entry.service)))) continue;
      found.push({ ...entry });
    }
    return found.reverse();
  }

  follow(signal: AbortSignal): AsyncGenerator<Followed> {
    return this.#followers.follow(signal);
  }

  add(kind: EntryKind, change: string, fields: EntryFields = {}): MutableEntry {
    const now = this.#clock.now();
    const entry: MutableEntry = {
      id: this.#nextId++,
      kind,
      at: fields.at ?? now,
      receivedAt: fields.receivedAt ?? this.#clock.elapsed(),
      object: shortText(fields.object ?? '', MAX_TEXT),
      service: shortText(fields.service ?? '', MAX_TEXT),
      family: fields.family,
      change: shortText(change, MAX_TEXT),
      cause: shortText(fields.cause ?? '', MAX_TEXT),
      triggeredAt: fields.triggeredAt,
      state: fields.state ?? 'none',
      plannedMs: fields.plannedMs,
      writtenMs: undefined,
      syncMs: undefined,
      isFullSync: undefined,
      count: 1,
      lastAt: now,
    };
    this.#ring.add(entry);
    if (entry.state !== 'waiting') this.#followers.publish(entry);
    else if (entry.family && !this.#firstWaiting.has(entry.family)) this.#firstWaiting.set(entry.family, entry.id);
    return entry;
  }

  /** If the last entry about the subject says the same, it counts once more. */
  addRepeated(subject: string, kind: EntryKind, change: string, fields: EntryFields): void {
    const last = this.#last.get(subject);
    const isKept = last !== undefined && last.id >= (this.#ring.first?.id ?? Infinity);
    if (!isKept || !isSame(last, change, fields)) {
      this.#last.set(subject, this.add(kind, change, fields));
      return;
    }
    last.count++;
    last.lastAt = this.#clock.now();
    this.#followers.publish(last);
  }

  /** The next entry about the subject is a new one. Returns true if there was an entry about it. */
  forget(subject: string): boolean {
    return this.#last.delete(subject);
  }

  /** Completes the entries of the family that wait to be written. */
  completeWaiting(family: Family, complete: (entry: MutableEntry) => void): void {
    const first = this.#firstWaiting.get(family);
    if (first === undefined) return;
    this.#firstWaiting.delete(family);
    const waiting: MutableEntry[] = [];
    for (const entry of this.#ring.newestFirst()) {
      if (entry.id < first) break;
      if (entry.state === 'waiting' && entry.family === family) waiting.push(entry);
    }
    for (const entry of waiting.reverse()) {
      complete(entry);
      this.#followers.publish(entry);
    }
  }
}

function isSame(last: Entry, change: string, { cause = '', object = '' }: EntryFields): boolean {
  return (
    last.change === shortText(change, MAX_TEXT) &&
    last.cause === shortText(cause, MAX_TEXT) &&
    last.object === shortText(object, MAX_TEXT)
  );
}
