import type { Clock } from '../../../lib/clock.ts';

interface Record<T> {
  readonly endpoint: T;
  readonly lastUsed: number;
}

/** So many clients are remembered for one service port; then those that were not seen for longest are forgotten. */
const MOST_CLIENTS = 100_000;

/** Which endpoint a client had last: ClientIP affinity. Ordered by last use, so that what is old is found at once. */
export class Affinity<T> {
  readonly #clock: Clock;
  readonly #records = new Map<string, Record<T>>();
  readonly #most: number;
  /** 0: no affinity. */
  #seconds = 0;

  constructor(clock: Clock, most = MOST_CLIENTS) {
    this.#clock = clock;
    this.#most = most;
  }

  get isOn(): boolean {
    return this.#seconds > 0;
  }

  get size(): number {
    return this.#records.size;
  }

  configure(seconds: number): void {
    this.#seconds = seconds;
    if (seconds === 0) this.#records.clear();
  }

  find(client: string): T | undefined {
    const record = this.#records.get(client);
    return record && !this.#isOld(record) ? record.endpoint : undefined;
  }

  remember(client: string, endpoint: T): void {
    if (!this.isOn) return;
    this.#records.delete(client);
    this.#records.set(client, { endpoint, lastUsed: this.#clock.elapsed() });
    if (this.#records.size > this.#most) this.#forgetOldest();
  }

  /** Forgets clients of endpoints that are gone. */
  keep(isThere: (endpoint: T) => boolean): void {
    for (const [client, { endpoint }] of this.#records) if (!isThere(endpoint)) this.#records.delete(client);
  }

  /** Forgets clients that were away for too long. */
  expire(): void {
    for (const [client, record] of this.#records) {
      if (!this.#isOld(record)) return;
      this.#records.delete(client);
    }
  }

  #forgetOldest(): void {
    for (const client of this.#records.keys()) {
      this.#records.delete(client);
      return;
    }
  }

  #isOld({ lastUsed }: Record<T>): boolean {
    return Math.floor((this.#clock.elapsed() - lastUsed) / 1000) >= this.#seconds;
  }
}
