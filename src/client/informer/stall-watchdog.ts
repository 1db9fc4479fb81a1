import type { Clock, Timer } from '../../lib/clock.ts';
import type { ApiResponse } from '../index.ts';

/** After this long without data, the watchdog reports a stall. */
export const REPORT_AFTER_MS = 10_000;
/**
 * API servers begin to send a list within seconds. One that is silent for this long will not complete it. The proxy
 * cannot wait longer: it starts nothing else before it has its own Node.
 */
export const GIVE_UP_AFTER_MS = 30_000;

/** Notices that a list stalls. A list may take any time as long as the API server sends parts of it. */
export class StallWatchdog {
  readonly #clock: Clock;
  readonly #onStall: (awaited: string) => void;
  #onGiveUp: (() => void) | undefined;
  #awaited = '';
  #lastDataAt = 0;
  #timer: Timer | undefined;

  /** Calls `onStall` with what is awaited, every ten seconds while no data comes. */
  constructor(clock: Clock, onStall: (awaited: string) => void) {
    this.#clock = clock;
    this.#onStall = onStall;
  }

  start(awaited: string, onGiveUp?: () => void): void {
    this.stop();
    this.#onGiveUp = onGiveUp;
    this.dataReceived(awaited);
    this.#check();
  }

  /** `awaited` is what comes next. */
  dataReceived(awaited: string = this.#awaited): void {
    this.#awaited = awaited;
    this.#lastDataAt = this.#clock.elapsed();
  }

  /** The same response; each chunk of its body counts as data. */
  observe(response: ApiResponse): ApiResponse {
    return { ...response, body: this.#observedBody(response.body) };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async *#observedBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.dataReceived();
      yield chunk;
    }
  }

  #check(): void {
    const silentMs = this.#clock.elapsed() - this.#lastDataAt;
    if (this.#onGiveUp && silentMs >= GIVE_UP_AFTER_MS) {
      this.stop();
      this.#onGiveUp();
      return;
    }
    if (silentMs >= REPORT_AFTER_MS) this.#onStall(this.#awaited);
    this.#timer = this.#clock.setTimer(untilNextCheck(silentMs), () => this.#check());
  }
}

function untilNextCheck(silentMs: number): number {
  if (silentMs < REPORT_AFTER_MS) return REPORT_AFTER_MS - silentMs;
  return silentMs < GIVE_UP_AFTER_MS ? Math.min(REPORT_AFTER_MS, GIVE_UP_AFTER_MS - silentMs) : REPORT_AFTER_MS;
}
