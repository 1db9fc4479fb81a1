import { type Clock, systemClock } from './clock.ts';

export interface BackOffOptions {
  /** The wait after the first failure. Each further wait is twice as long as the one before. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** After this long without a failure, the next wait is the first again. By default only `reset` does that. */
  readonly resetAfterMs?: number;
  /**
   * Returns 0 to 1: the part of the wait that is added to it, so that the proxies of a cluster do not retry at the same
   * moment. By default nothing is added.
   */
  readonly random?: () => number;
  readonly clock?: Clock;
}

/** How long to wait before a retry. */
export class BackOff {
  readonly #options: BackOffOptions;
  readonly #clock: Clock;
  #nextMs: number;
  #lastFailure = Number.NEGATIVE_INFINITY;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#nextMs = options.firstMs;
  }

  /**
   * Notes a failure that happened now. Returns how long to wait before the retry, in milliseconds: at least `minMs`, and
   * a random part of that is added, too.
   */
  fail(minMs = 0): number {
    const { maxMs, random, resetAfterMs = Number.POSITIVE_INFINITY } = this.#options;
    const now = this.#clock.elapsed();
    if (now - this.#lastFailure > resetAfterMs) this.reset();
    this.#lastFailure = now;
    const wait = Math.max(this.#nextMs, minMs);
    this.#nextMs = Math.min(2 * this.#nextMs, maxMs);
    return random ? wait * (1 + random()) : wait;
  }

  /** Notes a success: the next wait is the first again. */
  reset(): void {
    this.#nextMs = this.#options.firstMs;
  }
}
