import type { Clock, Timer } from '../../lib/clock.ts';

export interface RoundHandlers {
  check(): Promise<void>;
  verify(): Promise<void>;
  drain(): Promise<void>;
  failed(what: string, error: unknown): void;
}

const CHECK_MS = 1000;
const VERIFY_MS = 30_000;
const DRAIN_MS = 10_000;
/** With very many Services looking takes long; a twentieth of the time is the most. */
const PAUSE_FACTOR = 20;
/** Foreign changes come in bursts; a repair in the middle of one would be undone. */
const DEBOUNCE_MS = 30;
/** Repairs that are undone again and again are left to the slow round: two programs must not fight. */
const REPAIRS_AT_ONCE = 10;
const LATELY_MS = 60_000;

/** What is done from time to time: the kernel tells nobody of changes of virtual servers and sets. */
export class Rounds {
  readonly #clock: Clock;
  readonly #handlers: RoundHandlers;
  readonly #timers = new Map<string, Timer>();
  #repairs: number[] = [];
  #isStarted = false;
  #closed = false;

  constructor(clock: Clock, handlers: RoundHandlers) {
    this.#clock = clock;
    this.#handlers = handlers;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#every('checking', CHECK_MS, () => (this.#isFight() ? Promise.resolve() : this.#handlers.check()));
    this.#every('verifying', VERIFY_MS, () => this.#handlers.verify());
  }

  /** Once, some time from now, unless it is to be done already. */
  drainLater(): void {
    this.#once('draining', DRAIN_MS, () => this.#handlers.drain());
  }

  soon(what: string, work: () => Promise<void>): void {
    this.#once(what, DEBOUNCE_MS, work);
  }

  /** The same for a repair, unless repairs are undone again and again. */
  repairSoon(work: () => Promise<void>): void {
    if (!this.#isFight()) this.soon('repairing', work);
  }

  noteRepair(): void {
    this.#repairs.push(this.#clock.elapsed());
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #isFight(): boolean {
    const now = this.#clock.elapsed();
    this.#repairs = this.#repairs.filter(time => now - time < LATELY_MS);
    return this.#repairs.length >= REPAIRS_AT_ONCE;
  }

  #every(what: string, milliseconds: number, work: () => Promise<void>, pause = milliseconds): void {
    this.#once(what, pause, () => {
      const begun = this.#clock.elapsed();
      return work().finally(() => {
        const next = Math.max(milliseconds, PAUSE_FACTOR * (this.#clock.elapsed() - begun));
        this.#every(what, milliseconds, work, next);
      });
    });
  }

  #once(what: string, milliseconds: number, work: () => Promise<void>): void {
    if (this.#closed || this.#timers.has(what)) return;
    const timer = this.#clock.setTimer(milliseconds, () => {
      this.#timers.delete(what);
      work().catch(error => this.#handlers.failed(`${what} what ipvs mode wrote`, error));
    });
    this.#timers.set(what, timer);
  }
}
