/** Lets `burst` through at once, then one every `everyMs`. */
export class TokenBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  #tokens: number;
  #at: number;

  constructor(burst: number, everyMs: number, now: number) {
    this.#burst = burst;
    this.#everyMs = everyMs;
    this.#tokens = burst;
    this.#at = now;
  }

  take(now: number): boolean {
    // A clock that was set back gives nothing and takes nothing.
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, now - this.#at) / this.#everyMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
