import type { ApiClient } from '../../client/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import { type EventContent, newEvent, type Reporter } from './event.ts';
import { createEvent, type Outcome, patchSeries } from './event-sink.ts';
import { currentEvent, type KnownEvent, KnownEvents } from './known-events.ts';

const MOST_WAITING = 100;
const MOST_TRIES = 12;
const RETRY_MS = 10_000;
const TRY_MS = 30_000;
const SWEEP_MS = 60_000;
/** A proxy that has much to complain of must not bury the API server in it. */
const BURST = 25;
const ONE_EVERY_MS = 10_000;

export interface EventRecorderOptions {
  readonly reporter: Reporter;
  readonly clock: Clock;
  /** An Event did not reach the API: refused, tried too often, or one of too many. */
  readonly lost?: ((content: EventContent, why: string) => void) | undefined;
  /** From 0 to 1, so that nodes do not all try again at once. */
  readonly random?: (() => number) | undefined;
}

interface Job {
  readonly known: KnownEvent;
  kind: 'create' | 'series';
  tries: number;
}

/** Writes Events, beside everything else: whoever records one neither waits nor fails. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #known = new KnownEvents();
  readonly #bucket: TokenBucket;
  readonly #queue: Job[] = [];
  readonly #end = new AbortController();
  #client: ApiClient | undefined;
  #work: Promise<void> | undefined;
  #sweep: Timer | undefined;
  #wake: (() => void) | undefined;
  #closing = false;
  #lastNanoseconds = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#bucket = new TokenBucket(BURST, ONE_EVERY_MS, options.clock.elapsed());
  }

  record(content: EventContent): void {
    if (this.#closing) return;
    const now = this.#clock.now();
    const again = this.#known.again(content, now);
    if (again) {
      if (again.count === 2) this.#enqueue({ known: again, kind: 'series', tries: 0 });
      return;
    }
    if (!this.#bucket.take(this.#clock.elapsed())) {
      this.#lost(content, 'too many events');
      return;
    }
    const event = newEvent(content, this.#options.reporter, this.#nanoseconds(now));
    this.#enqueue({ known: this.#known.add(content, event, now), kind: 'create', tries: 0 });
    this.#sweep ??= this.#clock.setTimer(SWEEP_MS, () => this.#sweepSeries());
  }

  /** Where to write. Events recorded before this were kept. */
  attach(client: ApiClient): void {
    this.#client = client;
    this.#start();
  }

  /** Writes what waits, as far as that is possible within the time; nothing goes on afterwards. */
  async close(withinMs = 2000): Promise<void> {
    this.#closing = true;
    this.#sweep?.cancel();
    this.#wake?.();
    const deadline = this.#clock.setTimer(withinMs, () => this.#end.abort());
    await this.#work;
    deadline.cancel();
    this.#end.abort();
  }

  #enqueue(job: Job): void {
    if (this.#queue.length >= MOST_WAITING) {
      this.#lost(job.known.first, 'too many events wait');
      return;
    }
    this.#queue.push(job);
    this.#start();
  }

  #start(): void {
    const client = this.#client;
    if (!client || this.#work || this.#queue.length === 0 || this.#end.signal.aborted) return;
    this.#work = this.#writeAll(client);
  }

  async #writeAll(client: ApiClient): Promise<void> {
    for (let job = this.#queue[0]; job && !this.#end.signal.aborted; job = this.#queue[0]) {
      const outcome = await this.#write(client, job);
      if (outcome.kind === 'missing') {
        job.kind = 'create';
      } else if (outcome.kind === 'failed' && ++job.tries < MOST_TRIES && !this.#closing) {
        await this.#pause();
      } else {
        this.#queue.shift();
        if (outcome.kind !== 'written') this.#lost(job.known.first, outcome.error);
      }
    }
    // In the same turn in which the queue was found empty: what comes now starts anew.
    this.#work = undefined;
  }

  async #write(client: ApiClient, { known, kind }: Job): Promise<Outcome> {
    const { count } = known;
    if (kind === 'series' && count === known.sentCount) return { kind: 'written' };
    const giveUp = new AbortController();
    const abort = () => giveUp.abort();
    const timer = this.#clock.setTimer(TRY_MS, abort);
    this.#end.signal.addEventListener('abort', abort);
    try {
      const signal = giveUp.signal;
      const outcome = await (kind === 'create' ? createEvent : patchSeries)(client, currentEvent(known), signal);
      if (outcome.kind === 'written') Object.assign(known, { sentCount: count, sentAt: this.#clock.now() });
      return outcome;
    } catch (error) {
      return { kind: 'failed', error: errorText(error) };
    } finally {
      timer.cancel();
      this.#end.signal.removeEventListener('abort', abort);
    }
  }

  /** Until the next try, or until there is no time left to wait. */
  #pause(): Promise<void> {
    return new Promise(resolve => {
      const wait = RETRY_MS * (1 + 0.25 * (this.#options.random ?? Math.random)());
      const timer = this.#clock.setTimer(wait, () => resolve());
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #sweepSeries(): void {
    for (const known of this.#known.due(this.#clock.now())) this.#enqueue({ known, kind: 'series', tries: 0 });
    this.#sweep = this.#known.size > 0 ? this.#clock.setTimer(SWEEP_MS, () => this.#sweepSeries()) : undefined;
  }

  #lost(content: EventContent, why: string): void {
    try {
      this.#options.lost?.(content, why);
    } catch {
      // Events are an extra: even who hears of a loss cannot make recording fail.
    }
  }

  /** Never the same twice, for it makes the Event's name. */
  #nanoseconds(now: number): bigint {
    const wanted = BigInt(Math.round(now)) * 1_000_000n;
    this.#lastNanoseconds = wanted > this.#lastNanoseconds ? wanted : this.#lastNanoseconds + 1n;
    return this.#lastNanoseconds;
  }
}
