import type { Clock } from '../../lib/clock.ts';

const FIRST_MS = 800;
const MAX_MS = 30_000;
/** After this long without a failure, the next wait is the shortest again. */
const RESET_AFTER_MS = 120_000;

/**
 * How long to wait after a failure. Each wait is twice as long as the one before. A random time of up to the same
 * length is added, so that the proxies of a cluster do not retry at the same moment.
 */
export class BackOff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #next = FIRST_MS;
  #lastFailure = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The wait after a failure that happened now. */
  next(): number {
    const now = this.#clock.elapsed();
    const wait = now - this.#lastFailure > RESET_AFTER_MS ? FIRST_MS : this.#next;
    this.#lastFailure = now;
    this.#next = Math.min(wait * 2, MAX_MS);
    return wait * (1 + this.#random());
  }
}
