import type { Attempt } from './crowd.ts';

const SECOND_MS = 1000;
/** Short enough to see waves: waits are at least half a second long. */
const WAVE_MS = 100;

/** The greatest number of events in a window of a second, wherever it begins. */
export function peakPerSecond(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  let [first, peak] = [0, 0];
  sorted.forEach((time, i) => {
    while (time - (sorted[first] ?? time) >= SECOND_MS) first++;
    peak = Math.max(peak, i - first + 1);
  });
  return peak;
}

/**
 * How even events are between two moments: the fullest tenth of a second, in multiples of the average. 1 is perfectly
 * even. Proxies that retry together make waves of 5 to 10. NaN without events.
 */
export function waviness(times: readonly number[], from: number, to: number): number {
  const slots = Array<number>(Math.max(1, Math.floor((to - from) / WAVE_MS))).fill(0);
  for (const time of times) {
    const slot = Math.floor((time - from) / WAVE_MS);
    if (slot in slots) slots[slot] = (slots[slot] ?? 0) + 1;
  }
  const total = slots.reduce((sum, count) => sum + count, 0);
  return total === 0 ? Number.NaN : Math.max(...slots) / (total / slots.length);
}

export function timesOf(attempts: readonly Attempt[], isWanted: (status: number) => boolean): readonly number[] {
  return attempts.filter(({ status }) => isWanted(status)).map(({ atMs }) => atMs);
}
