import type { Clock, Timer } from '../../lib/clock.ts';

/**
 * API servers send a bookmark about once a minute. A watch that brings nothing for three minutes may be deaf: the
 * server keeps silent about a version that it has not reached, for example after etcd was restored from a backup.
 */
export const DEFAULT_SILENCE_MS = 180_000;
/** At most this part of the limit is added to it at random, so that the proxies of a cluster do not check together. */
const JITTER = 1 / 12;

/**
 * After the server was away, the check comes after this time, silent or not: a server that was set back only a little
 * soon passes the version of the watch, and does not send what happened before that.
 */
const FIRST_CHECK_MS = 1000;
const FIRST_CHECK_JITTER_MS = 9000;

export interface SilenceWatchdogOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** It is time for a check. */
  readonly onSuspicion: () => void;
}

/** Notices that a watch brings nothing, or may miss something. */
export class SilenceWatchdog {
  readonly #options: SilenceWatchdogOptions;
  #lastDataAt = 0;
  #timer: Timer | undefined;

  constructor(options: SilenceWatchdogOptions) {
    this.#options = options;
  }

  start(wasServerAway: boolean): void {
    this.stop();
    this.dataReceived();
    const { limitMs, clock, random, onSuspicion } = this.#options;
    if (wasServerAway) this.#timer = clock.setTimer(FIRST_CHECK_MS + FIRST_CHECK_JITTER_MS * random(), onSuspicion);
    else this.#check(limitMs * (1 + JITTER * random()));
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
    const { clock, onSuspicion } = this.#options;
    const leftMs = limitMs - (clock.elapsed() - this.#lastDataAt);
    if (leftMs > 0) this.#timer = clock.setTimer(Math.ceil(leftMs), () => this.#check(limitMs));
    else onSuspicion();
  }
}
