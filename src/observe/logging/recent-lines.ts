/** The last lines of the log, within limits. */
export class RecentLines {
  readonly #maxLines: number;
  readonly #maxLength: number;
  #lines: string[] = [];
  /** The lines before this one are forgotten. */
  #first = 0;
  #length = 0;

  constructor(maxLines = 2000, maxLength = 1 << 20) {
    this.#maxLines = maxLines;
    this.#maxLength = maxLength;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
    while (this.#lines.length - this.#first > this.#maxLines || this.#length > this.#maxLength) {
      this.#length -= this.#lines[this.#first]?.length ?? 0;
      this.#lines[this.#first] = '';
      this.#first++;
    }
    if (this.#first < this.#maxLines) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }

  /** The oldest first, without their line feeds. */
  all(): readonly string[] {
    return this.#lines.slice(this.#first).map(line => line.replace(/\n$/, ''));
  }
}
