import { type Clock, systemClock } from '../lib/clock.ts';
import type { Pulse } from './live-events.ts';

/** A sync that ended. */
export interface SyncPulse {
  /** Service ports that changed. */
  readonly servicePorts: number;
  readonly milliseconds: number;
  /** The longest time from the event of a Service to the kernel. */
  readonly latencyMs?: number | undefined;
  readonly error?: string | undefined;
}

type MutablePulse = { -readonly [Field in keyof Pulse]: Pulse[Field] };

const SECOND_MS = 1000;
const KEPT_SECONDS = 300;

/** The syncs of the last five minutes, in seconds. It takes a fixed amount of memory, and no timer. */
export class PulseRecorder {
  readonly #clock: Clock;
  /** By the second, modulo the size of the ring. */
  readonly #seconds: MutablePulse[] = [];

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  syncEnded({ servicePorts, milliseconds, latencyMs, error }: SyncPulse): void {
    const pulse = this.#current();
    pulse.syncs++;
    pulse.changes += servicePorts;
    pulse.syncMs = Math.max(pulse.syncMs, milliseconds);
    if (latencyMs !== undefined) pulse.latencyMs = Math.max(pulse.latencyMs ?? 0, latencyMs);
    if (error !== undefined) pulse.failedSyncs++;
  }

  /** The seconds from `since` on that have ended and in which something happened, the oldest first. */
  ended(since = 0): readonly Pulse[] {
    const now = this.#clock.now();
    const first = Math.max(since, now - KEPT_SECONDS * SECOND_MS);
    return this.#seconds
      .filter(({ at }) => at >= first && at + SECOND_MS <= now)
      .sort((a, b) => a.at - b.at)
      .map(rounded);
  }

  #current(): MutablePulse {
    const second = Math.floor(this.#clock.now() / SECOND_MS);
    const slot = second % KEPT_SECONDS;
    const at = second * SECOND_MS;
    const known = this.#seconds[slot];
    if (known?.at === at) return known;
    const pulse = { at, syncs: 0, failedSyncs: 0, syncMs: 0, latencyMs: undefined, changes: 0 };
    this.#seconds[slot] = pulse;
    return pulse;
  }
}

function rounded(pulse: Pulse): Pulse {
  const { syncMs, latencyMs } = pulse;
  return { ...pulse, syncMs: tenths(syncMs), latencyMs: latencyMs === undefined ? undefined : tenths(latencyMs) };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
