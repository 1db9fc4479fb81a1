import type { Endpoint } from '../model/index.ts';

/** How long an endpoint is left out: the first time, and at most. */
const FIRST_MS = 10_000;
const MAX_MS = 300_000;

interface EjectedEndpoint {
  readonly until: number;
  readonly ms: number;
}

/** Endpoints of one service port that are left out because connections failed. All times are in milliseconds. */
export class Ejections {
  /** Failures in a row, by text of the endpoint. */
  readonly #failures = new Map<string, number>();
  readonly #ejected = new Map<string, EjectedEndpoint>();
  /** The last ejection of endpoints that are in use again. */
  readonly #returned = new Map<string, EjectedEndpoint>();
  #readyCount = 0;
  #ejectAfter = 0;

  /** `ejectAfter`: the number of failures in a row; 0 means never. Forgets endpoints that are gone. */
  changed(ejectAfter: number, endpoints: readonly Endpoint[]): void {
    this.#ejectAfter = ejectAfter;
    const ready = new Set(endpoints.filter(endpoint => endpoint.ready).map(({ text }) => text));
    this.#readyCount = ready.size;
    for (const known of [this.#failures, this.#ejected, this.#returned]) {
      for (const text of known.keys()) if (!ready.has(text) || ejectAfter === 0) known.delete(text);
    }
  }

  succeeded(text: string): void {
    this.#failures.delete(text);
  }

  /** Returns for how long the endpoint is left out. Undefined if it stays in use. */
  failed(text: string, now: number): number | undefined {
    if (this.#ejectAfter === 0 || this.#ejected.has(text)) return undefined;
    const failures = (this.#failures.get(text) ?? 0) + 1;
    this.#failures.set(text, failures);
    if (failures < this.#ejectAfter || (this.#ejected.size + 1) * 2 > this.#readyCount) return undefined;
    const ms = this.#nextMs(text, now);
    this.#failures.delete(text);
    this.#ejected.set(text, { until: now + ms, ms });
    return ms;
  }

  isEjected(text: string): boolean {
    return this.#ejected.has(text);
  }

  /** When the next endpoint is due to be used again. */
  nextReturn(): number | undefined {
    let next: number | undefined;
    for (const { until } of this.#ejected.values()) if (next === undefined || until < next) next = until;
    return next;
  }

  /** Returns the endpoints that are used again from now on. */
  takeReturns(now: number): readonly string[] {
    const due = [...this.#ejected].filter(([, { until }]) => until <= now);
    for (const [text, ejected] of due) {
      this.#ejected.delete(text);
      this.#returned.set(text, { ...ejected, until: now });
    }
    return due.map(([text]) => text);
  }

  /** Twice the last time, unless the endpoint has served for as long as it was left out. */
  #nextMs(text: string, now: number): number {
    const last = this.#returned.get(text);
    return last && now - last.until < last.ms ? Math.min(MAX_MS, 2 * last.ms) : FIRST_MS;
  }
}
