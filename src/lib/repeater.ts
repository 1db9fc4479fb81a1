import type { Clock, Timer } from './clock.ts';

/** Repeats work. Each run begins one period after the end of the run before. */
export class Repeater {
  readonly #clock: Clock;
  readonly #work: () => Promise<void>;
  #periodMs: number;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  /** `work` must not reject. */
  constructor(clock: Clock, periodMs: number, work: () => Promise<void>) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#work = work;
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
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = this.#clock.setTimer(this.#periodMs, () => {
      this.#timer = undefined;
      this.#running = this.#work().finally(() => this.#schedule());
    });
  }
}
