import { type Clock, systemClock, type Timer } from '../lib/clock.ts';

/** In milliseconds. */
export interface Intervals {
  /** Least time between the end of a run and the start of the next. */
  readonly minInterval: number;
  /** When to run again after an error. */
  readonly retryInterval: number;
  /** Most time between the end of a run and the start of the next. */
  readonly maxInterval: number;
}

export interface RunnerOptions extends Intervals {
  /** What is run, never twice at a time. Throwing or rejecting is an error. */
  readonly fn: () => Promise<void> | void;
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

/**
 * new: not started. waiting: for a request or the next run's time. running: in fn. resting: minInterval after a run.
 */
type State = 'new' | 'waiting' | 'running' | 'resting' | 'stopped';

/** Runs a function when asked to, but not too often, and also unasked now and then. */
export class BoundedFrequencyRunner {
  readonly #options: RunnerOptions;
  readonly #clock: Clock;
  #intervals: Intervals;
  #state: State = 'new';
  #requested = false;
  #due = false;
  #nextRun: Timer | undefined;
  #rest: Timer | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#intervals = checked(options);
    this.#clock = options.clock ?? systemClock;
  }

  /** Holds from the next run on. */
  setIntervals(intervals: Intervals): void {
    this.#intervals = checked(intervals);
  }

  /** Begins to serve requests, including one made before. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'waiting';
    this.#scheduleNextRun(this.#intervals.maxInterval);
    this.#wake();
  }

  /** Asks for a run. Returns at once; fn never runs inside this call. Requests that wait are one. */
  run(): void {
    this.#requested = true;
    if (this.#state === 'waiting') this.#wake();
  }

  /** No run starts any more. Resolves when one that is under way has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#cancelTimers();
    await this.#running;
  }

  #wake(): void {
    queueMicrotask(() => {
      if (this.#state !== 'waiting' || !(this.#requested || this.#due)) return;
      this.#state = 'running';
      this.#requested = false;
      this.#due = false;
      this.#cancelTimers();
      this.#running = this.#runOnce();
    });
  }

  async #runOnce(): Promise<void> {
    let failed = false;
    try {
      await this.#options.fn();
    } catch (error) {
      failed = true;
      this.#report(error);
    }
    const { minInterval, maxInterval, retryInterval } = this.#intervals;
    const next = failed ? Math.min(retryInterval, maxInterval) : maxInterval;
    if (this.#state !== 'running') return;
    this.#state = 'resting';
    this.#scheduleNextRun(next);
    // A timer even for 0, so that runs that follow each other leave room for other work.
    this.#rest = this.#clock.setTimer(minInterval, () => {
      this.#state = 'waiting';
      this.#wake();
    });
  }

  #scheduleNextRun(after: number): void {
    this.#nextRun = this.#clock.setTimer(after, () => {
      this.#due = true;
      this.#wake();
    });
  }

  #cancelTimers(): void {
    this.#nextRun?.cancel();
    this.#rest?.cancel();
  }

  #report(error: unknown): void {
    try {
      this.#options.onError?.(error);
    } catch {
      // Whoever listens to errors must not end the loop either.
    }
  }
}

function checked(intervals: Intervals): Intervals {
  const { minInterval, maxInterval } = intervals;
  if (maxInterval < minInterval) {
    throw new RangeError(`maxInterval (${maxInterval}) is less than minInterval (${minInterval})`);
  }
  return intervals;
}
