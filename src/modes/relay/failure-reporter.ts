import type { Clock } from '../../lib/clock.ts';

const PAUSE_MS = 10_000;
/** Limits memory: with more different actions the reporter forgets all of them. */
const MAX_ACTIONS = 1000;

interface Reported {
  readonly until: number;
  suppressed: number;
}

/** Reports failures of connections, of which there may be thousands at once: each action at most every 10 s. */
export class FailureReporter {
  readonly #clock: Clock;
  readonly #report: (action: string, error: unknown) => void;
  readonly #reported = new Map<string, Reported>();

  constructor(clock: Clock, report: (action: string, error: unknown) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** `action` is what failed, with a verb: `proxy a connection to default/web`. */
  report(action: string, error: unknown): void {
    const now = this.#clock.elapsed();
    const known = this.#reported.get(action);
    if (known && known.until > now) {
      known.suppressed += 1;
      return;
    }
    if (this.#reported.size >= MAX_ACTIONS) this.#reported.clear();
    this.#reported.set(action, { until: now + PAUSE_MS, suppressed: 0 });
    const more = known && known.suppressed > 0 ? ` (${known.suppressed} more times since the last report)` : '';
    this.#report(`${action}${more}`, error);
  }
}
