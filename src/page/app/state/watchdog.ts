/** Calls back when it was not reset for a while. */
export class Watchdog {
  readonly #ms: number;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms;
    this.#onSilence = onSilence;
    this.reset();
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilence, this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
