import type { Clock, Timer } from '../../lib/clock.ts';

/**
 * API servers send a bookmark about once a minute. A watch that brings nothing for three minutes may be deaf: the
 * server keeps silent about a version that it has not reached, for example after etcd was restored from a backup.
 */
export const DEFAULT_SILENCE_MS = 180_000;
/** At most this part of the limit is added to it at random, so that the proxies of a cluster do not check together. */
const JITTER = 1 / 12;

export interface SilenceWatchdogOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onSilence: () => void;
}

/** Notices that a watch brings nothing. */
export class SilenceWatchdog {
  readonly #options: SilenceWatchdogOptions;
  #lastDataAt = 0;
  #timer: Timer | undefined;

  constructor(options: SilenceWatchdogOptions) {
    this.#options = options;
  }

  start(): void {
    this.stop();
    this.dataReceived();
    const { limitMs, random } = this.#options;
    this.#check(limitMs * (1 + JITTER * random()));
  }

  /** Called for each event, so it sets no timer. */
  dataReceived(): void {
    this.#lastDataAt = this.#options.clock.elapsed();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #check(limitMs: number): void {
    const { clock, onSilence } = this.#options;
    const leftMs = limitMs - (clock.elapsed() - this.#lastDataAt);
    if (leftMs > 0) this.#timer = clock.setTimer(Math.ceil(leftMs), () => this.#check(limitMs));
    else onSilence();
  }
}
