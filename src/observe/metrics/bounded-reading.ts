import type { Clock } from '../../lib/clock.ts';

/** Values that are younger than this are not read again. */
const MIN_PAUSE_MS = 5000;
/**
 * Reading 44,000 Services takes half a second. With this factor the proxy reads for at most a twentieth of the time.
 */
const PAUSE_PER_READING = 20;

/** Limits how often an expensive `read` runs. Callers that refresh at the same time share one run. */
export class BoundedReading {
  readonly #clock: Clock;
  readonly #read: () => Promise<void>;
  readonly #minPauseMs: number;
  #readAt = Number.NEGATIVE_INFINITY;
  #pause = 0;
  #reading: Promise<void> | undefined;

  /** `read` does not reject. If it fails, the metrics show the earlier values. */
  constructor(clock: Clock, read: () => Promise<void>, minPauseMs = MIN_PAUSE_MS) {
    this.#clock = clock;
    this.#read = read;
    this.#minPauseMs = minPauseMs;
  }

  async refresh(): Promise<void> {
    const isFresh = this.#clock.elapsed() - this.#readAt < this.#pause;
    if (!isFresh) this.#reading ??= this.#readNow();
    await this.#reading;
  }

  async #readNow(): Promise<void> {
    const start = this.#clock.elapsed();
    await this.#read();
    this.#readAt = this.#clock.elapsed();
    this.#pause = Math.max(this.#minPauseMs, PAUSE_PER_READING * (this.#readAt - start));
    this.#reading = undefined;
  }
}
