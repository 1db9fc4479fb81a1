import type { Clock, Timer } from './clock.ts';

/** Repeats work. Each run begins one period after the end of the run before. */
export class Repeater {
  readonly #clock: Clock;
  readonly #work: () => Promise<void>;
  readonly #pausePerWork: number;
  #periodMs: number;
  #lastMs = 0;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  /**
   * `work` handles its errors itself. After work that took a millisecond, the pause is at least `pausePerWork`
   * milliseconds: 20 limits the work to a twentieth of the time.
   */
  constructor(clock: Clock, periodMs: number, work: () => Promise<void>, pausePerWork = 0) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#work = work;
    this.#pausePerWork = pausePerWork;
    this.#schedule();
  }

  /** A new period begins now, or after the work that is running. */
  setPeriod(periodMs: number): void {
    if (periodMs === this.#periodMs) return;
    this.#periodMs = periodMs;
    if (!this.#timer) return;
    this.#timer.cancel();
    this.#schedule();
  }

  /** Resolves when work that is running has ended. */
  get idle(): Promise<void> {
    return this.#running;
  }

  /** Resolves when work that is running has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #schedule(): void {
    if (this.#closed) return;
    const pauseMs = Math.max(this.#periodMs, this.#pausePerWork * this.#lastMs);
    this.#timer = this.#clock.setTimer(pauseMs, () => {
      this.#timer = undefined;
      const start = this.#clock.elapsed();
      this.#running = this.#work().finally(() => {
        this.#lastMs = this.#clock.elapsed() - start;
        this.#schedule();
      });
    });
  }
}
