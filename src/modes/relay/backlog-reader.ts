import type { EventPoll } from '../../kernel/sockets/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';

/**
 * What one step did. `failed`: this connection or datagram cannot be taken, the next one may. `later`: nothing can be
 * taken now, and something may be left.
 */
export type StepOutcome = 'taken' | 'empty' | 'failed' | 'later';

export interface BacklogReaderOptions {
  readonly poll: Pick<EventPoll, 'defer'>;
  readonly clock: Clock;
  /** After this many steps, other sockets have their turn. */
  readonly stepsPerTurn: number;
  /** Takes one connection or datagram that waits at the socket. */
  readonly step: () => StepOutcome;
}

const MAX_FAILURES = 16;
const RETRY_MS = 100;

/**
 * Takes all connections or datagrams that wait at a socket. The poll reports a socket only when something new arrives,
 * so a reader that stops earlier must continue by itself. After failures it waits a while: otherwise a failure that
 * lasts would keep the processor busy.
 */
export class BacklogReader {
  readonly #options: BacklogReaderOptions;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: BacklogReaderOptions) {
    this.#options = options;
  }

  run(): void {
    const { poll, stepsPerTurn, step } = this.#options;
    let failures = 0;
    for (let i = 0; i < stepsPerTurn; i++) {
      if (this.#closed) return;
      const outcome = step();
      if (outcome === 'empty') return;
      if (outcome === 'later' || (outcome === 'failed' && ++failures > MAX_FAILURES)) {
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
