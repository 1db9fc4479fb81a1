import { signal } from '@preact/signals';
import type { Pulse } from '../../../inspect/index.ts';

/** How much of the past the plots show. */
export const PULSE_SECONDS = 300;

/** The last five minutes, one for each second in which something happened, the oldest first. */
export const pulses = signal<readonly Pulse[]>([]);

/** Adds a pulse and lets old ones go. A pulse of a known second replaces it. */
export function addPulse(known: readonly Pulse[], pulse: Pulse): readonly Pulse[] {
  const since = pulse.at - PULSE_SECONDS * 1000;
  return [...known.filter(({ at }) => at > since && at !== pulse.at), pulse].sort((a, b) => a.at - b.at);
}

export interface PulseSeries {
  /** Seconds since 1970, without gaps. */
  readonly seconds: readonly number[];
  readonly syncs: readonly number[];
  /** Null where nothing was written. */
  readonly latencyMs: readonly (number | null)[];
}

/** One value for each second up to now. */
export function pulseSeries(known: readonly Pulse[], now: number): PulseSeries {
  const end = Math.floor(now / 1000);
  const bySecond = new Map(known.map(pulse => [Math.floor(pulse.at / 1000), pulse]));
  const seconds = Array.from({ length: PULSE_SECONDS }, (_, i) => end - PULSE_SECONDS + 1 + i);
  return {
    seconds,
    syncs: seconds.map(second => bySecond.get(second)?.syncs ?? 0),
    latencyMs: seconds.map(second => bySecond.get(second)?.latencyMs ?? null),
  };
}
