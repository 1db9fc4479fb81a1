export interface Turn {
  /** Nothing of this connection ran before. */
  readonly isFirst: boolean;
  /** Runs one step. May add the same turn again. */
  run(): void;
}

/**
 * Runs the requests of all connections one by one, each in its own turn of Node's event loop, so that no load stops the
 * process. Node accepts one connection in each turn. With long turns a prober waits long until it is accepted. The
 * first bytes of a connection go before the later work of others, because probers open a connection for each probe.
 */
export class TurnQueue {
  readonly #first = new Set<Turn>();
  readonly #later = new Set<Turn>();
  #isScheduled = false;

  /** Adds a turn, unless it waits already. */
  add(turn: Turn): void {
    (turn.isFirst ? this.#first : this.#later).add(turn);
    this.#schedule();
  }

  remove(turn: Turn): void {
    this.#first.delete(turn);
    this.#later.delete(turn);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runOne());
  }

  #runOne(): void {
    this.#isScheduled = false;
    const [turn] = this.#first.size > 0 ? this.#first : this.#later;
    if (!turn) return;
    this.remove(turn);
    this.#schedule();
    turn.run();
  }
}

/** All servers of the process share its only thread. */
export const processTurns = new TurnQueue();
