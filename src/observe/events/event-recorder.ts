import type { ApiClient } from '../../client/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { sleep } from '../../lib/sleep.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import { type EventContent, newEvent, type Reporter } from './event.ts';
import { createEvent, type Outcome, patchSeries } from './event-sink.ts';
import { currentEvent, type KnownEvent, KnownEvents } from './known-events.ts';

const MAX_QUEUED = 100;
const MAX_ATTEMPTS = 12;
const RETRY_MS = 10_000;
const ATTEMPT_TIMEOUT_MS = 30_000;
const SWEEP_MS = 60_000;
/** These limits protect the API server from a proxy with many problems. */
const BURST = 25;
const REFILL_MS = 10_000;

export interface EventRecorderOptions {
  readonly reporter: Reporter;
  readonly clock: Clock;
  /** An Event was not written: the API server refused it, all attempts failed, or there were too many Events. */
  readonly onLost?: ((content: EventContent, cause: string) => void) | undefined;
  /** From 0 to 1. It spreads the retries of many nodes over time. */
  readonly random?: (() => number) | undefined;
}

interface Job {
  readonly known: KnownEvent;
  kind: 'create' | 'series';
  attempts: number;
}

/** Writes Events in the background. `record` neither waits nor fails. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #known = new KnownEvents();
  readonly #bucket: TokenBucket;
  readonly #queue: Job[] = [];
  /** Aborted by `close`: no more Events, and no pause between attempts. */
  readonly #closing = new AbortController();
  /** Aborted at the end of `close`: nothing more is written. */
  readonly #end = new AbortController();
  #client: ApiClient | undefined;
  #work: Promise<void> | undefined;
  #sweep: Timer | undefined;
  #lastNanoseconds = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#bucket = new TokenBucket(BURST, REFILL_MS, options.clock.elapsed());
  }

  record(content: EventContent): void {
    if (this.#closing.signal.aborted) return;
    const now = this.#clock.now();
    const repeated = this.#known.countRepeat(content, now);
    if (repeated) {
      if (repeated.count === 2) this.#enqueue({ known: repeated, kind: 'series', attempts: 0 });
      return;
    }
    if (!this.#bucket.take(this.#clock.elapsed())) {
      this.#lost(content, 'too many events');
      return;
    }
    const event = newEvent(content, this.#options.reporter, this.#nanoseconds(now));
    this.#enqueue({ known: this.#known.add(content, event, now), kind: 'create', attempts: 0 });
    this.#sweep ??= this.#clock.setTimer(SWEEP_MS, () => this.#sweepSeries());
  }

  /** Begins to write, also the Events that were recorded before. */
  attach(client: ApiClient): void {
    this.#client = client;
    this.#start();
  }

  /** Writes the queued Events, for at most `withinMs`. Nothing runs afterwards. */
  async close(withinMs = 2000): Promise<void> {
    this.#closing.abort();
    this.#sweep?.cancel();
    const deadline = this.#clock.setTimer(withinMs, () => this.#end.abort());
    await this.#work;
    deadline.cancel();
    this.#end.abort();
  }

  #enqueue(job: Job): void {
    if (this.#queue.length >= MAX_QUEUED) {
      this.#lost(job.known.first, 'too many events are queued');
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
      } else if (outcome.kind === 'failed' && ++job.attempts < MAX_ATTEMPTS && !this.#closing.signal.aborted) {
        await this.#pause();
      } else {
        this.#queue.shift();
        if (outcome.kind !== 'written') this.#lost(job.known.first, outcome.error);
      }
    }
    // There is no await since the loop found the queue empty, so no Event can be left behind.
    this.#work = undefined;
  }

  async #write(client: ApiClient, { known, kind }: Job): Promise<Outcome> {
    const { count } = known;
    if (kind === 'series' && count === known.sentCount) return { kind: 'written' };
    const giveUp = new AbortController();
    const abort = () => giveUp.abort();
    const timer = this.#clock.setTimer(ATTEMPT_TIMEOUT_MS, abort);
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

  /** Waits until the next attempt is due, or until the recorder closes. */
  #pause(): Promise<void> {
    const { random = Math.random } = this.#options;
    return sleep(RETRY_MS * (1 + 0.25 * random()), this.#clock, this.#closing.signal);
  }

  #sweepSeries(): void {
    for (const known of this.#known.takeDue(this.#clock.now())) this.#enqueue({ known, kind: 'series', attempts: 0 });
    this.#sweep = this.#known.size > 0 ? this.#clock.setTimer(SWEEP_MS, () => this.#sweepSeries()) : undefined;
  }

  #lost(content: EventContent, cause: string): void {
    try {
      this.#options.onLost?.(content, cause);
    } catch {
      // `record` must not fail because of a listener.
    }
  }

  /** Returns each number only once, because the name of the Event contains it. */
  #nanoseconds(now: number): bigint {
    const wanted = BigInt(Math.round(now)) * 1_000_000n;
    this.#lastNanoseconds = wanted > this.#lastNanoseconds ? wanted : this.#lastNanoseconds + 1n;
    return this.#lastNanoseconds;
  }
}
