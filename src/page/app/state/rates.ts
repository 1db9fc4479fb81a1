import { signal } from '@preact/signals';
import type { ConnectionsEvent } from '../../../inspect/index.ts';

/** New connections a second, from counters that the proxy sends every now and then. */
export class ConnectionRates {
  readonly #counts = new Map<string, number>();
  #rates: ReadonlyMap<string, number> = new Map();
  #at: number | undefined;

  /** `knownCount` is what the list of Services said, for Services that no event had before. */
  update({ at, counts }: ConnectionsEvent, knownCount: (service: string) => number | undefined): void {
    const seconds = this.#at === undefined ? 0 : (at - this.#at) / 1000;
    const rates = new Map<string, number>();
    for (const [service, count] of counts) {
      const before = this.#counts.get(service) ?? knownCount(service);
      this.#counts.set(service, count);
      // A counter that is smaller began anew: how many there were in between is not known.
      if (seconds > 0 && before !== undefined && count > before) rates.set(service, (count - before) / seconds);
    }
    this.#at = at;
    this.#rates = rates;
  }

  /** A Service that the last event does not have got no connection. */
  rateOf(service: string): number {
    return this.#rates.get(service) ?? 0;
  }

  /** Those above zero. */
  get rates(): ReadonlyMap<string, number> {
    return this.#rates;
  }

  /** The newest count. Undefined if no event had the Service. */
  countOf(service: string): number | undefined {
    return this.#counts.get(service);
  }

  forget(service: string): void {
    this.#counts.delete(service);
  }

  clear(): void {
    this.#counts.clear();
    this.#rates = new Map();
    this.#at = undefined;
  }
}

export const rates = new ConnectionRates();
/** Changes with every event of counters. */
export const ratesVersion = signal(0);
