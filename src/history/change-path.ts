import type { EndpointSlice, Service } from '../api/index.ts';
import type { Change } from '../lib/change.ts';
import type { Clock } from '../lib/clock.ts';
import type { ModelDiff } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import type { PlanDiff } from '../plan/index.ts';
import { Arrivals, arrivalText } from './arrivals.ts';
import { collectChanges, type ServiceChange } from './collect-changes.ts';
import type { Journal } from './journal.ts';
import { count, planWords } from './plan-words.ts';

export interface SyncTimes {
  readonly full: boolean;
  readonly milliseconds: number;
}

/** A sync with more changes has one entry for the rest of them. */
const MAX_CHANGES_PER_SYNC = 256;
/** Words about changes may hold up a sync for this long. */
const MAX_WORDS_MS = 4;

interface FamilyProgress {
  /** The first sync has taken its changes. */
  hasBegun: boolean;
  failures: number;
  /** Services with a port that the kernel refused in this sync. */
  readonly refused: Set<string>;
}

/** An event that may change all plans. */
interface GeneralEvent {
  readonly text: string;
  readonly at: number;
  readonly elapsed: number;
}

interface TakenEvents {
  readonly arrivals: Arrivals;
  readonly general: GeneralEvent | undefined;
  readonly learned: ReadonlyMap<string, string>;
}

/** Follows each change from the event of an object through the plan to the kernel. */
export class ChangePath {
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #families = new Map<Family, FamilyProgress>();
  #arrivals = new Arrivals();
  #general: GeneralEvent | undefined;
  /** What the proxy learned about endpoints, by Service. */
  #learned = new Map<string, string>();
  /** The events of the sync that runs. */
  #taken: TakenEvents;

  constructor(clock: Clock, journal: Journal) {
    this.#clock = clock;
    this.#journal = journal;
    this.#taken = { arrivals: this.#arrivals, general: undefined, learned: this.#learned };
  }

  /** The Services with events that no sync has taken yet. */
  arrivedServices(): Iterable<string> {
    return this.#arrivals.keys();
  }

  /** Returns the Service that the event is about. */
  arrived(change: Change<Service> | Change<EndpointSlice>): string | undefined {
    return this.#arrivals.add(change, this.#clock.now(), this.#clock.elapsed());
  }

  /** Something changed that may change all plans. */
  generalChange(text: string): void {
    this.#general ??= { text, at: this.#clock.now(), elapsed: this.#clock.elapsed() };
  }

  /** The proxy learned something about endpoints of a Service, and plans it again. */
  learned(service: string, words: string): void {
    this.#learned.set(service, words);
  }

  taken(): void {
    this.#taken = { arrivals: this.#arrivals, general: this.#general, learned: this.#learned };
    this.#arrivals = new Arrivals();
    this.#general = undefined;
    this.#learned = new Map();
  }

  planned(family: Family, model: ModelDiff, plans: PlanDiff): void {
    const progress = this.#progress(family);
    if (!progress.hasBegun) {
      progress.hasBegun = true;
      const servicePorts = plans.added.length + plans.updated.length + plans.removed.length;
      this.#journal.add('sync', `first sync: ${count(servicePorts, 'service port')}`, { family, state: 'waiting' });
      return;
    }
    const { changes, left } = collectChanges(model, plans, MAX_CHANGES_PER_SYNC);
    const end = this.#clock.elapsed() + MAX_WORDS_MS;
    let described = 0;
    for (const change of changes) {
      if (this.#clock.elapsed() > end) break;
      this.#addChange(family, change, model.triggerTimes.get(change.service)?.[0]);
      described++;
    }
    const rest = left + changes.length - described;
    if (rest === 0) return;
    const cause = this.#taken.general?.text ?? '';
    this.#journal.add('changes', `${count(rest, 'further change')} in one sync`, { family, cause, state: 'waiting' });
  }

  /** Returns the longest time from the event of a Service to the kernel. Undefined if no Service changed. */
  synced(family: Family, { full, milliseconds }: SyncTimes): number | undefined {
    const progress = this.#progress(family);
    const now = this.#clock.elapsed();
    let longestMs: number | undefined;
    this.#journal.completeWaiting(family, entry => {
      entry.state = progress.refused.has(entry.service) ? 'setAside' : 'written';
      entry.writtenMs = now - entry.receivedAt;
      if (entry.kind === 'change') longestMs = Math.max(longestMs ?? 0, entry.writtenMs);
      entry.syncMs = milliseconds;
      entry.isFullSync = full;
    });
    progress.refused.clear();
    if (progress.failures === 0) return longestMs;
    this.#journal.add('sync', `succeeded after ${count(progress.failures, 'failed attempt')}`, { family });
    this.#journal.forget(`sync ${family}`);
    progress.failures = 0;
    return longestMs;
  }

  syncFailed(family: Family, message: string): void {
    this.#progress(family).failures++;
    this.#journal.addRepeated(`sync ${family}`, 'syncFailed', message, { family });
  }

  /** The kernel refused a port of this Service. The sync goes on with all others. */
  refused(family: Family, service: string): void {
    this.#progress(family).refused.add(service);
  }

  #addChange(family: Family, { service, plans, words }: ServiceChange, triggeredAt: number | undefined): void {
    const { arrivals, general, learned } = this.#taken;
    const arrival = arrivals.get(service);
    const origin = arrival ?? general ?? { at: this.#clock.now(), elapsed: this.#clock.elapsed() };
    const isWritten = plans.length > 0;
    this.#journal.add('change', isWritten ? planWords(plans) : words, {
      at: origin.at,
      receivedAt: origin.elapsed,
      object: `Service ${service}`,
      service,
      family,
      cause: arrival ? arrivalText(arrival) : (general?.text ?? learned.get(service) ?? 'another Service changed'),
      triggeredAt,
      state: isWritten ? 'waiting' : 'none',
      plannedMs: this.#clock.elapsed() - origin.elapsed,
    });
  }

  #progress(family: Family): FamilyProgress {
    const known = this.#families.get(family);
    if (known) return known;
    const progress = { hasBegun: false, failures: 0, refused: new Set<string>() };
    this.#families.set(family, progress);
    return progress;
  }
}
