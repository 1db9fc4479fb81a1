import type { Clock, Timer } from '../../lib/clock.ts';

export interface Stream {
  write(text: string): unknown;
}

/** Writes lines to a stream. A buffer is written when it is full, after `flushMs`, or by `flush`. */
export class Output {
  readonly #stream: Stream;
  readonly #size: number;
  readonly #flushMs: number;
  readonly #clock: Clock;
  #buffered: string[] = [];
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(stream: Stream, size: number, flushMs: number, clock: Clock) {
    this.#stream = stream;
    this.#size = size;
    this.#flushMs = flushMs;
    this.#clock = clock;
  }

  write(line: string): void {
    const length = this.#size > 0 ? Buffer.byteLength(line) : Infinity;
    if (this.#bytes + length > this.#size) this.flush();
    if (length > this.#size) {
      this.#stream.write(line);
      return;
    }
    this.#buffered.push(line);
    this.#bytes += length;
    this.#timer ??= this.#clock.setTimer(this.#flushMs, () => this.flush());
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#bytes === 0) return;
    const text = this.#buffered.join('');
    this.#buffered = [];
    this.#bytes = 0;
    this.#stream.write(text);
  }
}
