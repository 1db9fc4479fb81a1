import type { Clock } from '../lib/clock.ts';
import { eventBytes } from './live-parts.ts';
import type { ProxyStatus } from './status.ts';

/** What always changes, such as the memory, is sent this often. */
const PERIOD_MS = 5000;

/** The status, when something in it changed. */
export class StatusFeed {
  readonly #clock: Clock;
  readonly #read: () => ProxyStatus;
  #essence = '';
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, read: () => ProxyStatus) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Undefined if readers need no new one. */
  next(): Uint8Array | undefined {
    const status = this.#read();
    const essence = essenceOf(status);
    const now = this.#clock.elapsed();
    if (essence === this.#essence && now - this.#sentAt < PERIOD_MS) return undefined;
    this.#essence = essence;
    this.#sentAt = now;
    return eventBytes({ kind: 'status', status });
  }

  /** For a reader that has none. */
  current(): Uint8Array {
    return eventBytes({ kind: 'status', status: this.#read() });
  }
}

/** The status without what always changes. The notes of checks have times in words. */
function essenceOf(status: ProxyStatus): string {
  return JSON.stringify({
    ...status,
    startedAt: '',
    uptimeSeconds: 0,
    memory: undefined,
    checks: status.checks.map(check => ({ ...check, note: undefined })),
    watches: status.watches.map(watch => ({ ...watch, silentSeconds: undefined })),
    families: status.families.map(family => ({ ...family, pendingSeconds: undefined })),
  });
}
