import type { Clock } from '../../lib/clock.ts';

interface Entry<T> {
  readonly endpoint: T;
  readonly lastUsed: number;
}

export interface RememberedClient<T> {
  readonly client: string;
  readonly endpoint: T;
  readonly secondsLeft: number;
}

/** The default limit of clients for one service port. */
const MAX_CLIENTS = 100_000;

/** ClientIP affinity: the last endpoint of each client. */
export class Affinity<T> {
  readonly #clock: Clock;
  /** In the order of last use, so that the oldest entries come first. */
  readonly #entries = new Map<string, Entry<T>>();
  readonly #max: number;
  /** 0 without affinity. */
  #seconds = 0;

  /** Beyond `max` clients, it forgets the client that was away for longest. */
  constructor(clock: Clock, max = MAX_CLIENTS) {
    this.#clock = clock;
    this.#max = max;
  }

  get isOn(): boolean {
    return this.#seconds > 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  configure(seconds: number): void {
    this.#seconds = seconds;
    if (seconds === 0) this.#entries.clear();
  }

  find(client: string): T | undefined {
    const entry = this.#entries.get(client);
    return entry && !this.#isExpired(entry) ? entry.endpoint : undefined;
  }

  remember(client: string, endpoint: T): void {
    if (!this.isOn) return;
    this.#entries.delete(client);
    this.#entries.set(client, { endpoint, lastUsed: this.#clock.elapsed() });
    if (this.#entries.size > this.#max) this.#forgetOldest();
  }

  /** The clients whose affinity has not ended, the one that was away for longest first. */
  *clients(): Generator<RememberedClient<T>> {
    for (const [client, entry] of this.#entries) {
      if (this.#isExpired(entry)) continue;
      const { endpoint, lastUsed } = entry;
      yield { client, endpoint, secondsLeft: this.#seconds - Math.floor((this.#clock.elapsed() - lastUsed) / 1000) };
    }
  }

  /** Forgets the clients of all other endpoints. */
  keep(isKept: (endpoint: T) => boolean): void {
    for (const [client, { endpoint }] of this.#entries) if (!isKept(endpoint)) this.#entries.delete(client);
  }

  /** Forgets clients whose affinity has ended. */
  expire(): void {
    for (const [client, entry] of this.#entries) {
      if (!this.#isExpired(entry)) return;
      this.#entries.delete(client);
    }
  }

  #forgetOldest(): void {
    for (const client of this.#entries.keys()) {
      this.#entries.delete(client);
      return;
    }
  }

  #isExpired({ lastUsed }: Entry<T>): boolean {
    return Math.floor((this.#clock.elapsed() - lastUsed) / 1000) >= this.#seconds;
  }
}
