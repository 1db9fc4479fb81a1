import type { Clock, Timer } from '../lib/clock.ts';

export interface PassScheduleOptions {
  readonly clock: Clock;
  /** A pass waits until nothing has asked for one for so long, in milliseconds. */
  readonly debounce: number;
  /** A pass is made after this long even if nothing asks for one. */
  readonly rescan: number;
  /** True if another pass is needed soon. */
  readonly pass: () => Promise<boolean>;
}

/** Who asks without pause must not put the pass off for ever. */
const MOST_DEBOUNCES = 10;

/** Says when to look again: soon after a change, and slowly for what nobody tells of. Passes never overlap. */
export class PassSchedule {
  readonly #options: PassScheduleOptions;
  #timer: Timer | undefined;
  #firstRequest: number | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: PassScheduleOptions) {
    this.#options = options;
  }

  /** Starts the slow passes. */
  start(): void {
    this.#arm(this.#options.rescan);
  }

  request(): void {
    const { clock, debounce } = this.#options;
    const now = clock.elapsed();
    this.#firstRequest ??= now;
    const latest = this.#firstRequest + MOST_DEBOUNCES * debounce;
    if (!this.#running) this.#arm(Math.max(0, Math.min(debounce, latest - now)));
  }

  /** Resolves when a pass that is under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #arm(ms: number): void {
    this.#timer?.cancel();
    if (this.#closed) return;
    this.#timer = this.#options.clock.setTimer(ms, () => {
      this.#firstRequest = undefined;
      this.#running = this.#run();
    });
  }

  async #run(): Promise<void> {
    const again = await this.#options.pass();
    const requested = this.#firstRequest !== undefined;
    this.#running = undefined;
    this.#firstRequest = undefined;
    this.#arm(this.#options.rescan);
    if (again || requested) this.request();
  }
}
