import { BackOff } from '../lib/back-off.ts';
import type { Clock } from '../lib/clock.ts';

export interface RepairLimits {
  /** Repairs within the window that need not wait. */
  readonly atOnce: number;
  readonly windowMs: number;
  /** How long the next repair waits. Each further wait is twice as long. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

export const DEFAULT_REPAIR_LIMITS: RepairLimits = {
  atOnce: 10,
  windowMs: 10_000,
  firstPauseMs: 1000,
  maxPauseMs: 30_000,
};

/** Delays repairs that another program undoes again and again, so that the two programs do not write all the time. */
export class RepairLimiter {
  readonly #clock: Clock;
  readonly #limits: RepairLimits;
  readonly #backOff: BackOff;
  #repairedAt: number[] = [];

  constructor(clock: Clock, limits: RepairLimits = DEFAULT_REPAIR_LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
    this.#backOff = new BackOff({ firstMs: limits.firstPauseMs, maxMs: limits.maxPauseMs, clock });
  }

  /** Whether there were too many repairs lately. */
  get isExhausted(): boolean {
    const since = this.#clock.elapsed() - this.#limits.windowMs;
    return this.#repairedAt.filter(time => time > since).length >= this.#limits.atOnce;
  }

  noteRepair(): void {
    this.#repairedAt.push(this.#clock.elapsed());
    if (this.#repairedAt.length > this.#limits.atOnce) this.#repairedAt.shift();
  }

  /** How long the next repair must wait. Each call while there are too many repairs returns a longer pause. */
  nextPauseMs(): number {
    if (!this.isExhausted) {
      this.#backOff.reset();
      return 0;
    }
    return this.#backOff.fail();
  }

  /** How long to wait after a repair that failed. */
  pauseAfterFailureMs(): number {
    return this.#backOff.fail();
  }
}
