/** Lets `burst` through at once, then one every `everyMs`. */
export class TokenBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  /** Below zero when tokens are promised. */
  #tokens: number;
  #at: number;

  constructor(burst: number, everyMs: number, now: number) {
    this.#burst = burst;
    this.#everyMs = everyMs;
    this.#tokens = burst;
    this.#at = now;
  }

  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token that may yet have to come. Returns the milliseconds until it is there. */
  promise(now: number): number {
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
