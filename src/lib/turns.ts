/** Runs one piece of work at a time, in the order of asking. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when all work that was asked for so far has ended. */
  get done(): Promise<unknown> {
    return this.#last;
  }

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Runs one piece of work at a time for each key. Work with different keys runs at the same time. */
export class KeyedTurns {
  readonly #turns = new Map<string, Turns>();

  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(key) ?? new Turns();
    this.#turns.set(key, turns);
    return turns.take(work);
  }
}
