import { Breaks } from '../lib/breaks.ts';
import type { Clock } from '../lib/clock.ts';
import { Repeater } from '../lib/repeater.ts';
import { eventBytes, type SharedEvents, sharedEvents } from './live-parts.ts';

type Counts = ReadonlyMap<string, number>;
type Count = readonly [service: string, connections: number];

const PERIOD_MS = 2000;
/** The readings take a twentieth of the time at most. */
const PAUSE_PER_READING = 20;
const COUNTS_PER_EVENT = 500;

/** The counters at one moment. */
export interface CountReading {
  /** Those that changed since the reading before. */
  readonly changed: SharedEvents;
  readonly all: SharedEvents;
}

export interface CountFeedOptions {
  readonly clock: Clock;
  /** Undefined if the mode does not count connections. */
  read(): Promise<Counts | undefined>;
  onChange(reading: CountReading): void;
}

/** Reads the counters of all connections again and again. */
export class CountFeed {
  readonly #options: CountFeedOptions;
  readonly #repeater: Repeater;
  /** Resolves when it is known whether the mode counts. */
  readonly ready: Promise<void>;
  #last: Counts | undefined;

  constructor(options: CountFeedOptions) {
    this.#options = options;
    this.ready = this.#read();
    this.#repeater = new Repeater(
      options.clock,
      PERIOD_MS,
      async () => {
        await this.ready;
        await this.#read();
      },
      PAUSE_PER_READING,
    );
  }

  /** The last reading. Undefined if the mode does not count. */
  get last(): Counts | undefined {
    return this.#last;
  }

  close(): void {
    void this.#repeater.close();
  }

  async #read(): Promise<void> {
    const counts = await this.#options.read().catch(() => undefined);
    if (!counts) return;
    const before = this.#last;
    this.#last = counts;
    if (!before) return;
    const changed = await changedCounts(before, counts);
    if (changed.length > 0) this.#options.onChange(reading(changed, counts, this.#options.clock.now()));
  }
}

async function changedCounts(before: Counts, counts: Counts): Promise<readonly Count[]> {
  const breaks = new Breaks();
  const changed: Count[] = [];
  for (const count of counts) {
    if (before.get(count[0]) !== count[1]) changed.push(count);
    if (breaks.isDue) await breaks.take();
  }
  // A mode leaves out what is zero. The counter of a Service begins anew if the kernel's entry is made again.
  for (const service of before.keys()) {
    if (!counts.has(service)) changed.push([service, 0]);
    if (breaks.isDue) await breaks.take();
  }
  return changed;
}

function reading(changed: readonly Count[], counts: Counts, at: number): CountReading {
  const make = (items: readonly Count[]) => eventBytes({ kind: 'connections', at, counts: items });
  let all: SharedEvents | undefined;
  return {
    changed: sharedEvents(changed, COUNTS_PER_EVENT, make),
    get all() {
      all ??= sharedEvents([...counts], COUNTS_PER_EVENT, make);
      return all;
    },
  };
}
