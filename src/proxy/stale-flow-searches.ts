import type { Family } from '../net/index.ts';

/**
 * Runs the searches for stale flows, one at a time. With many flows a search takes longer than the pause between two
 * syncs. So requests for a family that already waits cause no further search: the one that waits covers them, because
 * it reads the Services when it starts.
 */
export class StaleFlowSearches {
  readonly #search: (family: Family) => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Set<Family>();
  #running: Promise<void> | undefined;

  constructor(search: (family: Family) => Promise<unknown>, onError: (error: unknown) => void) {
    this.#search = search;
    this.#onError = onError;
  }

  request(family: Family): void {
    this.#waiting.add(family);
    this.#running ??= this.#runAll();
  }

  /** Resolves when no search runs or waits. */
  async finished(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #runAll(): Promise<void> {
    for (const family of this.#waiting) {
      this.#waiting.delete(family);
      try {
        await this.#search(family);
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#running = undefined;
  }
}
