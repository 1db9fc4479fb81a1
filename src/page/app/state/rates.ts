import { signal } from '@preact/signals';
import type { ConnectionsEvent } from '../../../inspect/index.ts';

/** Without news for this long, there are no new connections. A slow proxy may take three of its periods. */
const MAX_SILENCE_MS = 6000;
const MAX_PERIODS = 3;

/**
 * New connections a second, from the counters that changed. One reading of the counters may come in several events with
 * the same time. A Service that a reading does not have got no connection.
 */
export class ConnectionRates {
  readonly #counts = new Map<string, number>();
  #rates = new Map<string, number>();
  #at: number | undefined;
  #periodMs = 0;

  /** `knownCount` is what the list of Services said, for Services that no event had before. */
  update({ at, counts }: ConnectionsEvent, knownCount: (service: string) => number | undefined): void {
    if (at !== this.#at) {
      this.#periodMs = this.#at === undefined ? 0 : at - this.#at;
      this.#at = at;
      this.#rates = new Map();
    }
    for (const [service, count] of counts) {
      const before = this.#counts.get(service) ?? knownCount(service);
      this.#counts.set(service, count);
      // A counter that is smaller began anew: how many there were in between is not known.
      if (this.#periodMs <= 0 || before === undefined || count <= before) continue;
      this.#rates.set(service, ((count - before) * 1000) / this.#periodMs);
    }
  }

  /** Those above zero. */
  get rates(): ReadonlyMap<string, number> {
    return this.#rates;
  }

  /** The newest count. Undefined if no event had the Service. */
  countOf(service: string): number | undefined {
    return this.#counts.get(service);
  }

  /** Lets the rates go if the last event came too long ago. Returns whether it did. */
  expire(silentMs: number): boolean {
    if (this.#rates.size === 0 || silentMs < Math.max(MAX_SILENCE_MS, MAX_PERIODS * this.#periodMs)) return false;
    this.#rates = new Map();
    return true;
  }

  forget(service: string): void {
    this.#counts.delete(service);
    this.#rates.delete(service);
  }

  clear(): void {
    this.#counts.clear();
    this.#rates = new Map();
    this.#at = undefined;
    this.#periodMs = 0;
  }
}

/** When the last event of counters came, by the clock of this machine. */
let updatedAt = 0;

export function updateRates(event: ConnectionsEvent, knownCount: (service: string) => number | undefined): void {
  updatedAt = Date.now();
  rates.update(event, knownCount);
  ratesVersion.value++;
}

export function expireRates(): void {
  if (rates.expire(Date.now() - updatedAt)) ratesVersion.value++;
}

export const rates = new ConnectionRates();
/** Changes with every event of counters. */
export const ratesVersion = signal(0);
