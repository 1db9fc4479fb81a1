const NEWLINE = 0x0a;
/** Far above the size of any object in an API server. Limits memory if a line never ends. */
export const MAX_LINE_BYTES = 64 << 20;

/** Splits the chunks of a body into lines. */
export class JsonLines {
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** A line is too long: the body cannot be read. */
  broken = false;

  /** Whether no line is unfinished. A body that ends in the middle of a line was cut off. */
  get complete(): boolean {
    return this.#size === 0;
  }

  push(chunk: Uint8Array, emit: (line: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !this.broken; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      this.#emit(emit);
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #emit(emit: (line: string) => void): void {
    const line = Buffer.concat(this.#chunks, this.#size).toString('utf8');
    this.#chunks = [];
    this.#size = 0;
    if (line.trim() !== '') emit(line);
  }

  #append(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.broken ||= this.#size > MAX_LINE_BYTES;
  }
}
