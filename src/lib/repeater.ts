import type { Clock, Timer } from './clock.ts';

/** Does something again and again, a period after the last time ended. */
export class Repeater {
  readonly #clock: Clock;
  readonly #work: () => Promise<void>;
  #periodMs: number;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  /** `work` handles its errors itself. */
  constructor(clock: Clock, periodMs: number, work: () => Promise<void>) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#work = work;
    this.#schedule();
  }

  /** The new period begins now. */
  setPeriod(periodMs: number): void {
    if (periodMs === this.#periodMs) return;
    this.#periodMs = periodMs;
    if (!this.#timer) return;
    this.#timer.cancel();
    this.#schedule();
  }

  /** Resolves when what is under way has ended. */
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
