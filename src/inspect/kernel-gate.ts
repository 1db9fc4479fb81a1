import { type Clock, systemClock } from '../lib/clock.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { Turns } from '../lib/turns.ts';
import { withTimeout } from '../lib/with-timeout.ts';

const MAX_WAITING = 16;
const BURST = 20;
const EVERY_MS = 100;
/** A question that also probes endpoints takes up to five seconds for them. */
const DEADLINE_MS = 15_000;

/** Too many requests need the kernel at the same time. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
  readonly retryAfterSeconds = 1;

  constructor() {
    super('too many requests read the kernel: ask again after a second');
  }
}

/** Lets one request at a time read the kernel, at a limited rate, so that syncs are not held up. */
export class KernelGate {
  readonly #clock: Clock;
  readonly #turns = new Turns();
  readonly #bucket: TokenBucket;
  #waiting = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(BURST, EVERY_MS, clock.elapsed());
  }

  /**
   * Rejects with a `BusyError` if too many wait or the rate is too high, and with another error after the deadline. Does
   * no work for a caller that has gone while it waited.
   */
  async enter<T>(work: () => T | Promise<T>, gone?: AbortSignal): Promise<T> {
    if (this.#waiting >= MAX_WAITING || !this.#bucket.take(this.#clock.elapsed())) throw new BusyError();
    this.#waiting++;
    try {
      return await this.#turns.take(async () => {
        if (gone?.aborted) throw new Error('the caller is gone');
        return await withTimeout(work(), DEADLINE_MS, this.#clock);
      });
    } finally {
      this.#waiting--;
    }
  }
}
