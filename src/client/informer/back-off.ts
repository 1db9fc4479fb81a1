import type { Clock } from '../../lib/clock.ts';

const FIRST_MS = 800;
const LONGEST_MS = 30_000;
/** Without a failure for this long the server counts as well again. */
const RESET_MS = 120_000;

/**
 * How long to wait after failures: twice as long each time, and by chance up to as much again, so that the proxies of a
 * cluster do not come back together.
 */
export class BackOff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #next = FIRST_MS;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The wait after a failure that happened now. */
  next(): number {
    const now = this.#clock.elapsed();
    const wait = now - this.#last > RESET_MS ? FIRST_MS : this.#next;
    this.#last = now;
    this.#next = Math.min(wait * 2, LONGEST_MS);
    return wait * (1 + this.#random());
  }
}
