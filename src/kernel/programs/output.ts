const TAIL_LENGTH = 64 << 10;

/** Collects a program's standard output up to a limit, or passes it on as it arrives. */
export class Output {
  readonly #limit: number;
  readonly #onChunk: ((chunk: Uint8Array) => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(limit: number, onChunk?: (chunk: Uint8Array) => void) {
    this.#limit = limit;
    this.#onChunk = onChunk;
  }

  /** Returns false if the output exceeds the limit. */
  add(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#limit) return false;
    if (this.#onChunk) this.#onChunk(chunk);
    else this.#chunks.push(chunk);
    return true;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** Keeps only the end of a program's standard error, so that endless output does not fill our memory. */
export class Tail {
  #bytes: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-TAIL_LENGTH);
  }

  text(): string {
    return this.#bytes.toString('utf8');
  }
}
