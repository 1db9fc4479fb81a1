import type { NetworkNamespace } from '../../kernel/netns.ts';
import {
  type Generation,
  NftablesMonitor,
  type NftEvent,
  type NftFamily,
  printRule,
} from '../../kernel/nftables/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { TABLE } from './layout.ts';

/** A change of our table that was not ours. */
export interface Drift {
  readonly family: NftFamily;
  /** Who did it and what, in a few words. */
  readonly what: string;
  /** The sets whose elements were changed; undefined if it was more than elements. */
  readonly sets: ReadonlySet<string> | undefined;
}

interface Suspect {
  readonly generation: Generation;
  readonly events: readonly NftEvent[];
}

export interface DriftWatchOptions {
  /** The ruleset's generation now. */
  readonly generation: () => number;
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock: Clock;
  /** Called some time after foreign changes of a table; changes meanwhile are one call. */
  drifted(drift: Drift): void;
  /** Changes may have gone unnoticed: look at everything. */
  lost(reason: string): void;
}

/** Foreign changes often come in bursts; a repair in the middle of one would be undone. */
const DEBOUNCE_MS = 30;

/** Watches nf_tables for changes of our tables that are not ours. */
export class DriftWatch {
  readonly #options: DriftWatchOptions;
  readonly #own = new Set<number>();
  /** The newest generation that is known, by notification or because we made it. */
  #seen: number;
  /** A generation passed that nobody told of. */
  #missed = false;
  readonly #suspects = new Map<NftFamily, Suspect[]>();
  #events: NftEvent[] = [];
  #monitor: NftablesMonitor | undefined;
  #timer: Timer | undefined;

  constructor(options: DriftWatchOptions) {
    this.#options = options;
    this.#seen = options.generation();
  }

  /** What others did so far does not matter, because everything is about to be read. */
  startAfresh(): void {
    this.#seen = this.#options.generation();
    this.#missed = false;
  }

  /** Notifications of a large transaction of our own would drown us, so it is made while nobody listens. */
  pause(): void {
    this.#monitor?.close();
    this.#monitor = undefined;
    this.#events = [];
  }

  listen(): void {
    if (this.#monitor) return;
    const { namespace, lost } = this.#options;
    const handlers = {
      changed: (event: NftEvent) => {
        if (event.table === TABLE) this.#events.push(event);
      },
      committed: (generation: Generation) => this.#committed(generation),
      overrun: () => lost('notifications were lost'),
      failed: (error: Error) => {
        this.#monitor = undefined;
        lost(error.message);
      },
    };
    this.#monitor = NftablesMonitor.open(handlers, { namespace });
    const isBehind = this.#missed || this.#options.generation() !== this.#seen;
    this.startAfresh();
    if (isBehind) lost('something changed while nobody listened');
  }

  /** This generation was made by us. It may be said before or after its notification came. */
  own(generation: number | undefined): void {
    if (generation === undefined) return;
    if (!this.#monitor && generation !== this.#seen + 1) this.#missed = true;
    this.#seen = generation;
    this.#own.add(generation);
    // Each is asked for once, soon after; older ones are of no use.
    if (this.#own.size > 64) this.#own.delete([...this.#own][0] ?? generation);
  }

  close(): void {
    this.pause();
    this.#timer?.cancel();
  }

  #committed(generation: Generation): void {
    const events = this.#events;
    this.#events = [];
    this.#seen = generation.id;
    for (const family of new Set(events.map(event => event.family))) {
      const suspects = this.#suspects.get(family) ?? [];
      suspects.push({ generation, events: events.filter(event => event.family === family) });
      this.#suspects.set(family, suspects);
    }
    if (this.#suspects.size > 0) this.#timer ??= this.#options.clock.setTimer(DEBOUNCE_MS, () => this.#judge());
  }

  /** By now our own commits have said which generations they made. */
  #judge(): void {
    this.#timer = undefined;
    for (const [family, suspects] of this.#suspects) {
      const foreign = suspects.filter(({ generation }) => !this.#own.has(generation.id));
      const [first] = foreign;
      if (!first) continue;
      const sets = changedSets(foreign.flatMap(({ events }) => events));
      this.#options.drifted({ family, what: describe(first.events, first.generation), sets });
    }
    this.#suspects.clear();
  }
}

function changedSets(events: readonly NftEvent[]): ReadonlySet<string> | undefined {
  const names = events.map(({ object }) => (object.kind === 'elements' ? object.set : undefined));
  return names.includes(undefined) ? undefined : new Set(names.filter(name => name !== undefined));
}

function describe(events: readonly NftEvent[], { process = 'someone', pid }: Generation): string {
  const words = events.slice(0, 3).map(({ type, family, object }) => {
    const verb = type === 'new' ? 'added' : 'deleted';
    switch (object.kind) {
      case 'elements':
        return `${verb} ${object.elements.length} elements of ${object.set}`;
      case 'rule':
        return `${verb} rule in ${object.chain}: ${printRule(family, object.expressions)}`;
      default:
        return `${verb} ${object.kind} ${object.name}`;
    }
  });
  const more = events.length > 3 ? ` and ${events.length - 3} more` : '';
  return `${process}${pid ? ` (pid ${pid})` : ''} ${words.join(', ')}${more}`;
}
