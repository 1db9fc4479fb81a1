import type { NetworkNamespace } from '../../kernel/netns.ts';
import {
  type Generation,
  NftablesMonitor,
  type NftEvent,
  type NftFamily,
  printRule,
} from '../../kernel/nftables/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { TABLE } from './table/layout.ts';

/** Another program changed our table. */
export interface TableDrift {
  readonly family: NftFamily;
  /** The program, and what it changed. */
  readonly cause: string;
  /** The sets whose elements changed; undefined if more than elements changed. */
  readonly sets: ReadonlySet<string> | undefined;
}

interface TableChange {
  readonly generation: Generation;
  readonly events: readonly NftEvent[];
}

export interface DriftWatchOptions {
  /** The generation of the ruleset now. */
  readonly generation: () => number;
  readonly namespace?: NetworkNamespace | undefined;
  /** The size of the buffer for notifications, in bytes. Tests make it so small that the kernel drops some. */
  readonly receiveBuffer?: number | undefined;
  readonly clock: Clock;
  /** Called some time after another program changed a table. One call covers all changes of that time. */
  drifted(drift: TableDrift): void;
  /** The watch may have missed changes of any table. */
  lost(reason: string): void;
}

/** Other programs often make several changes. A repair in the middle of them would be undone. */
const DEBOUNCE_MS = 30;

/** Watches nf_tables for changes of our tables by other programs. */
export class DriftWatch {
  readonly #options: DriftWatchOptions;
  readonly #own = new Set<number>();
  /** The newest generation that this process made or was notified of. */
  #seen: number;
  /** Another program made a generation that the watch has no notification of, at least not yet. */
  #missed = false;
  /** Changes by any program, this one included. */
  readonly #changes = new Map<NftFamily, TableChange[]>();
  #events: NftEvent[] = [];
  #monitor: NftablesMonitor | undefined;
  #timer: Timer | undefined;

  constructor(options: DriftWatchOptions) {
    this.#options = options;
    this.#seen = options.generation();
  }

  /** Ignores what happened so far, because the writers are about to read everything. */
  restart(): void {
    this.#seen = this.#options.generation();
    this.#missed = false;
  }

  /** Called before a large transaction: the kernel would need longer to notify us of it than to commit it. */
  pause(): void {
    this.#monitor?.close();
    this.#monitor = undefined;
    this.#events = [];
  }

  listen(): void {
    if (this.#monitor) return;
    const { namespace, receiveBuffer, lost } = this.#options;
    const handlers = {
      changed: (event: NftEvent) => {
        if (event.table === TABLE) this.#events.push(event);
      },
      committed: (generation: Generation) => this.#committed(generation),
      overrun: () => lost('the kernel dropped notifications'),
      failed: (error: Error) => {
        this.#monitor = undefined;
        lost(error.message);
      },
    };
    this.#monitor = NftablesMonitor.open(handlers, { namespace, receiveBuffer });
    const isBehind = this.#missed || this.#options.generation() !== this.#seen;
    this.restart();
    if (isBehind) lost('another program changed the ruleset while the watch was paused');
  }

  /** This process made the generation. The caller may know it before or after its notification arrives. */
  noteOwn(generation: number | undefined): void {
    if (generation === undefined) return;
    if (generation > this.#seen + 1) this.#missed = true;
    this.#seen = Math.max(this.#seen, generation);
    this.#own.add(generation);
    // Each is needed once, soon after the commit.
    if (this.#own.size > 64) this.#own.delete([...this.#own][0] ?? generation);
  }

  close(): void {
    this.pause();
    this.#timer?.cancel();
  }

  #committed(generation: Generation): void {
    const events = this.#events;
    this.#events = [];
    this.#noteNotified(generation.id);
    for (const family of new Set(events.map(event => event.family))) {
      const changes = this.#changes.get(family) ?? [];
      changes.push({ generation, events: events.filter(event => event.family === family) });
      this.#changes.set(family, changes);
    }
    if (this.#changes.size > 0) this.#timer ??= this.#options.clock.setTimer(DEBOUNCE_MS, () => this.#reportForeign());
  }

  /** Notifications arrive in order, so none from before the newest generation is missing any more. */
  #noteNotified(generation: number): void {
    if (generation < this.#seen) return;
    this.#seen = generation;
    this.#missed = false;
  }

  /** By now the process knows which generations it made itself. */
  #reportForeign(): void {
    this.#timer = undefined;
    for (const [family, changes] of this.#changes) {
      const foreign = changes.filter(({ generation }) => !this.#own.has(generation.id));
      const [first] = foreign;
      if (!first) continue;
      const sets = changedSets(foreign.flatMap(({ events }) => events));
      this.#options.drifted({ family, cause: describe(first.events, first.generation), sets });
    }
    this.#changes.clear();
  }
}

function changedSets(events: readonly NftEvent[]): ReadonlySet<string> | undefined {
  const names = events.map(({ object }) => (object.kind === 'elements' ? object.set : undefined));
  return names.includes(undefined) ? undefined : new Set(names.filter(name => name !== undefined));
}

function describe(events: readonly NftEvent[], { process = 'another program', pid }: Generation): string {
  const words = events.slice(0, 3).map(({ type, family, object }) => {
    const verb = type === 'new' ? 'added' : 'deleted';
    switch (object.kind) {
      case 'elements':
        return `${verb} ${object.elements.length} ${object.elements.length === 1 ? 'element' : 'elements'} of ${object.set}`;
      case 'rule':
        return `${verb} rule in ${object.chain}: ${printRule(family, object.expressions)}`;
      default:
        return `${verb} ${object.kind} ${object.name}`;
    }
  });
  const more = events.length > 3 ? ` and ${events.length - 3} more` : '';
  return `${process}${pid ? ` (pid ${pid})` : ''} ${words.join(', ')}${more}`;
}
