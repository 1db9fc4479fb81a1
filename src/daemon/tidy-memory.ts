import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import type { Family } from '../net/index.ts';

/** Not while the first changes after the start are waiting. */
const AFTER_MS = 500;
/** The first time the dead go; the second time the living are moved together, and only that empties pages. */
const TIMES = 2;

/**
 * Gives back the memory that the start took, once all families are synced: all objects came at once, and what they left
 * behind would stay until the heap grows again, which in a quiet cluster it never does.
 */
export class TidyAfterStart {
  readonly #missing: Set<Family>;
  readonly #clock: Clock;
  readonly #collect: () => void;
  #timer: Timer | undefined;

  constructor(families: readonly Family[], clock: Clock = systemClock, collect: () => void = collectGarbage) {
    this.#missing = new Set(families);
    this.#clock = clock;
    this.#collect = collect;
  }

  synced(family: Family): void {
    if (!this.#missing.delete(family) || this.#missing.size > 0) return;
    this.#schedule(TIMES);
  }

  close(): void {
    this.#timer?.cancel();
  }

  #schedule(times: number): void {
    if (times === 0) return;
    this.#timer = this.#clock.setTimer(AFTER_MS, () => {
      this.#collect();
      this.#schedule(times - 1);
    });
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
