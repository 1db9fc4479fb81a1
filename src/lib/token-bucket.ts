/** Limits a rate: `burst` tokens at once, then one token every `everyMs`. */
export class TokenBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  /** Below zero if callers have reserved tokens that are still to come. */
  #tokens: number;
  #at: number;

  constructor(burst: number, everyMs: number, now: number) {
    this.#burst = burst;
    this.#everyMs = everyMs;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Takes a token. Returns false if there is none. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Reserves the next token. Returns the milliseconds until it is there. */
  reserve(now: number): number {
    this.#fill(now);
    this.#tokens -= 1;
    return Math.max(0, -this.#tokens * this.#everyMs);
  }

  giveBack(): void {
    this.#tokens += 1;
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) / this.#everyMs);
    this.#at = now;
  }
}
