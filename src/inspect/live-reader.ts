import type { Batch } from './live-batch.ts';
import type { CountReading } from './live-connections.ts';
import { eventBytes, type SharedEvents } from './live-parts.ts';

/** A reader that is further behind asks for the lists again. */
const MAX_ROWS = 2000;
const MAX_ENTRIES = 1000;
/** A reader that is further behind misses the oldest of these. */
const MAX_PULSES = 60;
const MAX_OBSERVED = 20;

const RELIST = eventBytes({ kind: 'relist' });

/** What one reader has not taken yet. It is bounded, so that a slow reader costs little and holds up nobody. */
export class LiveReader {
  #rows: Batch<string> | undefined;
  #history: Batch<number> | undefined;
  #status: Uint8Array | undefined;
  #counts: { readonly reading: CountReading; readonly all: boolean } | undefined;
  #pulses: Uint8Array[] = [];
  #observed: Uint8Array[] = [];
  #mustRelist = false;
  #isEnded = false;
  #wake: (() => void) | undefined;
  /** The events that the reader takes now, one after the other. */
  #taking: Generator<Uint8Array> | undefined;

  rows(batch: Batch<string>): void {
    const rows = this.#rows ? this.#rows.with(batch) : batch;
    if (rows.texts.size > MAX_ROWS) this.relist();
    else this.#rows = rows;
    this.#wake?.();
  }

  history(batch: Batch<number>): void {
    const history = this.#history ? this.#history.with(batch) : batch;
    if (history.texts.size > MAX_ENTRIES) this.relist();
    else this.#history = history;
    this.#wake?.();
  }

  /** The lists that the reader asks for have everything that it has not taken. */
  relist(): void {
    this.#mustRelist = true;
    this.#rows = undefined;
    this.#history = undefined;
    this.#wake?.();
  }

  status(event: Uint8Array): void {
    this.#status = event;
    this.#wake?.();
  }

  /** A reader that missed a reading gets all counters. */
  counts(reading: CountReading): void {
    this.#counts = { reading, all: this.#counts !== undefined };
    this.#wake?.();
  }

  pulse(event: Uint8Array): void {
    this.#pulses = [...this.#pulses, event].slice(-MAX_PULSES);
    this.#wake?.();
  }

  observed(event: Uint8Array): void {
    this.#observed = [...this.#observed, event].slice(-MAX_OBSERVED);
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** The server asks for the next event when the reader has taken the one before. */
  async *events(first: Promise<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    yield await first;
    while (!this.#isEnded) {
      const event = this.#next();
      if (event) yield event;
      else await this.#filled();
    }
  }

  #next(): Uint8Array | undefined {
    const taken = this.#taking?.next();
    if (taken && !taken.done) return taken.value;
    this.#taking = this.#takeAll();
    return this.#taking.next().value ?? undefined;
  }

  *#takeAll(): Generator<Uint8Array, void> {
    const [rows, history, status, counts] = [this.#rows, this.#history, this.#status, this.#counts];
    const others = [
      ...(this.#mustRelist ? [RELIST] : []),
      ...(status ? [status] : []),
      ...this.#pulses,
      ...this.#observed,
    ];
    this.#rows = this.#history = this.#status = this.#counts = undefined;
    this.#pulses = [];
    this.#observed = [];
    this.#mustRelist = false;
    yield* others;
    yield* each(rows?.events);
    yield* each(history?.events);
    yield* each(counts?.all ? counts.reading.all : counts?.reading.changed);
  }

  async #filled(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

function* each(events: SharedEvents | undefined): Generator<Uint8Array> {
  for (let i = 0; events && i < events.length; i++) yield events.at(i);
}
