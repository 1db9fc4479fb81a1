/** Hands lines that come at any time to one reader. It ends with its last line, or when the reader is gone. */
export class LineQueue<Line> implements AsyncIterable<readonly Line[]> {
  readonly #gone: AbortSignal;
  #waiting: Line[] = [];
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(gone: AbortSignal) {
    this.#gone = gone;
    gone.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Does nothing after the end. */
  add(line: Line): void {
    if (this.#hasEnded) return;
    this.#waiting.push(line);
    this.#wake();
  }

  end(last: Line): void {
    this.add(last);
    this.#hasEnded = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Line[], void> {
    while (!this.#gone.aborted) {
      const lines = this.#waiting;
      this.#waiting = [];
      if (lines.length > 0) yield lines;
      else if (this.#hasEnded) return;
      else await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }
}
