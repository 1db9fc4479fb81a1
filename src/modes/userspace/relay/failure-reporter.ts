import type { Clock } from '../../../lib/clock.ts';

/** The same is told at most so often. */
const PAUSE_MS = 10_000;
const MOST_KINDS = 1000;

/** Tells of what goes wrong with connections, which may be thousands at once, in few words. */
export class Trouble {
  readonly #clock: Clock;
  readonly #tell: (what: string, error: unknown) => void;
  readonly #kinds = new Map<string, { until: number; suppressed: number }>();

  constructor(clock: Clock, tell: (what: string, error: unknown) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  note(what: string, error: unknown): void {
    const now = this.#clock.elapsed();
    const known = this.#kinds.get(what);
    if (known && known.until > now) {
      known.suppressed += 1;
      return;
    }
    if (this.#kinds.size >= MOST_KINDS) this.#kinds.clear();
    this.#kinds.set(what, { until: now + PAUSE_MS, suppressed: 0 });
    const more = known && known.suppressed > 0 ? ` (and ${known.suppressed} times since it was told last)` : '';
    this.#tell(`${what}${more}`, error);
  }
}
