import type { PulseSeries } from '../../state/pulses.ts';

/** Syncs are averaged over this time, because a single second says little. */
const AVERAGE_SECONDS = 10;

export interface Figures {
  /** Undefined if nothing was written in the time that the plots show. */
  readonly lastLatencyMs: number | undefined;
  readonly longestLatencyMs: number | undefined;
  readonly syncsPerSecond: number;
  readonly mostSyncs: number;
}

/** What the plots show, in numbers. */
export function figuresOf({ latencyMs, syncs }: PulseSeries): Figures {
  const measured = latencyMs.filter(value => value !== null);
  // The last second is not over yet.
  const lately = syncs.slice(-AVERAGE_SECONDS - 1, -1);
  return {
    lastLatencyMs: measured.at(-1),
    longestLatencyMs: measured.length === 0 ? undefined : Math.max(...measured),
    syncsPerSecond: lately.reduce((sum, value) => sum + value, 0) / Math.max(1, lately.length),
    mostSyncs: Math.max(0, ...syncs),
  };
}
