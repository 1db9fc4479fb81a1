import type { Clock } from '../lib/clock.ts';
import { Repeater } from '../lib/repeater.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { CountFeed } from './live-connections.ts';
import type { LiveHubOptions } from './live-hub.ts';
import { eventBytes } from './live-parts.ts';
import type { LiveReader } from './live-reader.ts';
import { RowFeed } from './live-rows.ts';
import { StatusFeed } from './live-status.ts';

const TICK_MS = 1000;
/** A reader does not wait longer to hear whether the mode counts connections. */
const MAX_FIRST_READING_MS = 1000;

/** The work for readers, from the first one that comes to the last one that leaves. */
export class LiveSession {
  readonly #options: LiveHubOptions & { readonly clock: Clock };
  readonly #readers: ReadonlySet<LiveReader>;
  readonly #rows: RowFeed;
  readonly #counts: CountFeed;
  readonly #status: StatusFeed;
  readonly #ticks: Repeater;
  #pulsesSince: number;

  /** `onFailed` is called if the proxy cannot say what changed. Readers must begin anew. */
  constructor(
    options: LiveHubOptions & { readonly clock: Clock },
    readers: ReadonlySet<LiveReader>,
    onFailed: () => void,
  ) {
    const { clock, history } = options;
    this.#options = options;
    this.#readers = readers;
    this.#counts = new CountFeed({
      clock,
      read: () => options.connectionCounts(),
      onChange: reading => this.#each(reader => reader.counts(reading)),
    });
    this.#rows = new RowFeed({
      clock,
      history,
      facts: () => options.facts(),
      connections: () => this.#counts.last,
      onRows: batch => this.#each(reader => reader.rows(batch)),
      onHistory: batch => this.#each(reader => reader.history(batch)),
      onRelist: () => this.#each(reader => reader.relist()),
      onFailed,
    });
    this.#status = new StatusFeed(clock, () => options.status());
    this.#pulsesSince = secondOf(clock.now());
    this.#ticks = new Repeater(clock, TICK_MS, async () => {
      try {
        this.#tick();
      } catch {
        onFailed();
      }
    });
  }

  get rowsComputed(): number {
    return this.#rows.computed;
  }

  get lastCounts(): ReadonlyMap<string, number> | undefined {
    return this.#counts.last;
  }

  close(): void {
    this.#rows.close();
    this.#counts.close();
    void this.#ticks.close();
  }

  /** The first event of a reader. */
  async welcome(reader: LiveReader, run: string): Promise<Uint8Array> {
    const { clock, history, pulse, nodeName, facts } = this.#options;
    await withTimeout(this.#counts.ready, MAX_FIRST_READING_MS, clock).catch(() => undefined);
    reader.status(this.#status.current());
    const { descriptor, behaviour } = facts().mode;
    return eventBytes({
      kind: 'hello',
      run,
      node: nodeName,
      mode: descriptor.name,
      historyId: history.newestId,
      pulse: pulse.ended(),
      countsConnections: this.#counts.last !== undefined,
      listsSockets: behaviour.atSockets !== undefined,
    });
  }

  #tick(): void {
    this.#rows.look();
    const status = this.#status.next();
    if (status) this.#each(reader => reader.status(status));
    this.#sendPulses();
  }

  #sendPulses(): void {
    const { clock, pulse: recorder } = this.#options;
    const now = clock.now();
    // The clock of the machine was set back, after the last tick. The seconds that follow would count as sent.
    if (this.#pulsesSince > now) this.#pulsesSince = secondOf(now - TICK_MS);
    for (const pulse of recorder.ended(this.#pulsesSince)) {
      this.#pulsesSince = pulse.at + 1;
      const event = eventBytes({ kind: 'pulse', pulse });
      this.#each(reader => reader.pulse(event));
    }
  }

  #each(send: (reader: LiveReader) => void): void {
    for (const reader of this.#readers) send(reader);
  }
}

function secondOf(time: number): number {
  return time - (time % TICK_MS);
}
