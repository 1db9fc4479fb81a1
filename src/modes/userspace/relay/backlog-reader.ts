import type { EventPoll } from '../../../kernel/sockets/index.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';

/** What one step came to. `later`: it cannot be done now, and something may be left. */
export type Step = 'taken' | 'nothing' | 'failed' | 'later';

export interface IntakeOptions {
  readonly poll: Pick<EventPoll, 'defer'>;
  readonly clock: Clock;
  /** Steps before others get their turn. */
  readonly stepsATurn: number;
  readonly step: () => Step;
}

const MOST_ERRORS = 16;
const RETRY_MS = 100;

/**
 * Takes what waits at a socket until nothing is left. Nobody tells again of what was left, so whoever stops before has to
 * come back; after errors only in a while, or one that lasts would keep the processor busy.
 */
export class Intake {
  readonly #options: IntakeOptions;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  run(): void {
    const { poll, stepsATurn, step } = this.#options;
    let errors = 0;
    for (let i = 0; i < stepsATurn; i++) {
      if (this.#closed) return;
      const came = step();
      if (came === 'nothing') return;
      // Others are errors of what is not to be. The next may be all right.
      if (came === 'later' || (came === 'failed' && ++errors > MOST_ERRORS)) {
        this.#runLater();
        return;
      }
    }
    poll.defer(() => this.run());
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
  }

  #runLater(): void {
    this.#retry ??= this.#options.clock.setTimer(RETRY_MS, () => {
      this.#retry = undefined;
      this.run();
    });
  }
}
