const TAIL = 64 << 10;

/** A program's standard output: kept up to a limit, or handed on as it comes. */
export class Output {
  readonly #limit: number;
  readonly #take: ((chunk: Uint8Array) => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(limit: number, take?: (chunk: Uint8Array) => void) {
    this.#limit = limit;
    this.#take = take;
  }

  /** Says whether the output is still within the limit. */
  add(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#limit) return false;
    if (this.#take) this.#take(chunk);
    else this.#chunks.push(chunk);
    return true;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** The end of a program's standard error. Whoever writes without end there loses the beginning, not our memory. */
export class Tail {
  #bytes: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-TAIL);
  }

  text(): string {
    return this.#bytes.toString('utf8');
  }
}
