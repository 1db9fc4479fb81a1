import { type Clock, systemClock, type Timer } from '../lib/clock.ts';

/** In milliseconds. */
export interface Intervals {
  /** The shortest time between the end of a run and the start of the next. */
  readonly minInterval: number;
  /**
   * If given, a run that succeeded is followed by a rest of only so many times its own duration. `minInterval` is then the
   * longest rest.
   */
  readonly restPerRun?: number;
  /** The time between the end of a run that failed and its retry. */
  readonly retryInterval: number;
  /** The longest time between the end of a run and the start of the next. */
  readonly maxInterval: number;
}

export interface RunnerOptions extends Intervals {
  /** Runs never overlap. A run that throws or rejects has failed. */
  readonly fn: () => Promise<void> | void;
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

/** `waiting` waits for a request or for the next run's time. `resting` is the rest after a run. */
type State = 'new' | 'waiting' | 'running' | 'resting' | 'stopped';

/** Runs a function on request, but not too often, and also without a request from time to time. */
export class BoundedFrequencyRunner {
  readonly #options: RunnerOptions;
  readonly #clock: Clock;
  #intervals: Intervals;
  #state: State = 'new';
  #isRequested = false;
  /** The time for a run without a request has come. */
  #isDue = false;
  #nextRun: Timer | undefined;
  #rest: Timer | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#intervals = checkIntervals(options);
    this.#clock = options.clock ?? systemClock;
  }

  /** The new intervals count from the next run on. */
  setIntervals(intervals: Intervals): void {
    this.#intervals = checkIntervals(intervals);
  }

  /** Begins to serve requests, including an earlier one. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'waiting';
    this.#scheduleNextRun(this.#intervals.maxInterval);
    this.#runSoon();
  }

  /** Requests a run and returns at once. Several requests that wait cause one run. */
  run(): void {
    this.#isRequested = true;
    if (this.#state === 'waiting') this.#runSoon();
  }

  /** No further run starts. Resolves when a run that has begun has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#cancelTimers();
    await this.#running;
  }

  /** Starts a run after this turn of the event loop, if there is a reason for one. */
  #runSoon(): void {
    queueMicrotask(() => {
      if (this.#state !== 'waiting' || !(this.#isRequested || this.#isDue)) return;
      this.#state = 'running';
      this.#isRequested = false;
      this.#isDue = false;
      this.#cancelTimers();
      this.#running = this.#runOnce();
    });
  }

  async #runOnce(): Promise<void> {
    let failed = false;
    const start = this.#clock.elapsed();
    try {
      await this.#options.fn();
    } catch (error) {
      failed = true;
      this.#report(error);
    }
    const { minInterval, restPerRun, maxInterval, retryInterval } = this.#intervals;
    const hasShortRest = restPerRun !== undefined && !failed;
    const rest = hasShortRest ? Math.min(minInterval, restPerRun * (this.#clock.elapsed() - start)) : minInterval;
    const next = failed ? Math.min(retryInterval, maxInterval) : maxInterval;
    if (this.#state !== 'running') return;
    this.#state = 'resting';
    this.#scheduleNextRun(next);
    // A timer even for 0 milliseconds, so that other work can run between two runs.
    this.#rest = this.#clock.setTimer(rest, () => {
      this.#state = 'waiting';
      this.#runSoon();
    });
  }

  #scheduleNextRun(after: number): void {
    this.#nextRun = this.#clock.setTimer(after, () => {
      this.#isDue = true;
      this.#runSoon();
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
      // An error of the listener must not end the loop.
    }
  }
}

function checkIntervals(intervals: Intervals): Intervals {
  const { minInterval, maxInterval } = intervals;
  if (maxInterval < minInterval) {
    throw new RangeError(`maxInterval (${maxInterval}) is less than minInterval (${minInterval})`);
  }
  return intervals;
}
