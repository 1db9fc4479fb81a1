const NEWLINE = 0x0a;
/** Far above what an API server stores as one object: more would be held in memory. */
const LONGEST_LINE = 64 << 20;

/** Splits a body into lines. */
export class JsonLines {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** A line without an end. */
  broken = false;

  /** The body may only end where this is true. */
  get complete(): boolean {
    return this.#held === 0;
  }

  push(chunk: Uint8Array, emit: (line: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !this.broken; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, end));
      this.#emit(emit);
      start = end + 1;
    }
    this.#hold(chunk.subarray(start));
  }

  #emit(emit: (line: string) => void): void {
    const line = Buffer.concat(this.#parts, this.#held).toString('utf8');
    this.#parts = [];
    this.#held = 0;
    if (line.trim() !== '') emit(line);
  }

  #hold(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#held += part.length;
    this.broken ||= this.#held > LONGEST_LINE;
  }
}
