import type { Clock } from '../../lib/clock.ts';

/** Who asks more often gets the same again. */
const FRESH_MS = 5000;
/** With many Services reading takes long (half a second for 44,000), so a twentieth of the time is the most. */
const PAUSE_PER_READING = 20;

/** Something that is dear to read: read when somebody asks, by all who ask together, and not too often. */
export class BoundedReading {
  readonly #clock: Clock;
  readonly #read: () => Promise<void>;
  #readAt = Number.NEGATIVE_INFINITY;
  #pause = FRESH_MS;
  #reading: Promise<void> | undefined;

  /** `read` does not reject: what was read before goes on being shown. */
  constructor(clock: Clock, read: () => Promise<void>) {
    this.#clock = clock;
    this.#read = read;
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
    this.#pause = Math.max(FRESH_MS, PAUSE_PER_READING * (this.#readAt - start));
    this.#reading = undefined;
  }
}
