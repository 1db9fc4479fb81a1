/** Lets work with the same key be done one after another. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  async take(key: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const ended = turn.catch(() => undefined);
    this.#last.set(key, ended);
    await turn;
  }
}
