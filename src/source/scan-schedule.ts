import type { Clock, Timer } from '../lib/clock.ts';

export interface ScanScheduleOptions {
  readonly clock: Clock;
  /** A requested scan begins when no further request has come for this long. */
  readonly debounceMs: number;
  /** Without a request, a scan begins this long after the last one. */
  readonly rescanMs: number;
  /** Returns true if another scan is needed soon. Must not reject. */
  readonly scan: () => Promise<boolean>;
}

/** Requests that come without a pause must not delay the scan for ever. */
const MAX_DEBOUNCES = 10;

/** Runs a scan soon after a request, and from time to time without one. Scans never overlap. */
export class ScanSchedule {
  readonly #options: ScanScheduleOptions;
  #timer: Timer | undefined;
  #firstRequest: number | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: ScanScheduleOptions) {
    this.#options = options;
  }

  /** Begins the scans without a request. */
  start(): void {
    this.#scanIn(this.#options.rescanMs);
  }

  request(): void {
    const { clock, debounceMs } = this.#options;
    const now = clock.elapsed();
    this.#firstRequest ??= now;
    const latest = this.#firstRequest + MAX_DEBOUNCES * debounceMs;
    if (!this.#running) this.#scanIn(Math.max(0, Math.min(debounceMs, latest - now)));
  }

  /** Resolves when a scan that is running has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #scanIn(milliseconds: number): void {
    this.#timer?.cancel();
    if (this.#closed) return;
    this.#timer = this.#options.clock.setTimer(milliseconds, () => {
      this.#firstRequest = undefined;
      this.#running = this.#scan();
    });
  }

  async #scan(): Promise<void> {
    const isAnotherNeeded = await this.#options.scan();
    const isRequested = this.#firstRequest !== undefined;
    this.#running = undefined;
    this.#firstRequest = undefined;
    this.#scanIn(this.#options.rescanMs);
    if (isAnotherNeeded || isRequested) this.request();
  }
}
