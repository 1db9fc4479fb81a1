/** Lets one piece of work run at a time, in the order of asking. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when all that was asked for so far has ended. */
  get done(): Promise<unknown> {
    return this.#last;
  }

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** Lets one piece of work run at a time for each key. */
export class KeyedTurns {
  readonly #turns = new Map<string, Turns>();

  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(key) ?? new Turns();
    this.#turns.set(key, turns);
    return turns.take(work);
  }
}
