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

/** When the requests with such an answer were sent. A status of 0 means that there was no answer. */
export function timesOf(attempts: readonly Attempt[], isWanted: (status: number) => boolean): readonly number[] {
  return attempts.filter(({ status }) => isWanted(status)).map(({ sentAt }) => sentAt);
}

/** How long each sender waited after a request with such an answer, until it sent the next one. */
export function waitsAfter(attempts: readonly Attempt[], isWanted: (status: number) => boolean): readonly number[] {
  const last = new Map<string, Attempt>();
  const waits: number[] = [];
  for (const attempt of [...attempts].sort((a, b) => a.sentAt - b.sentAt)) {
    const former = last.get(attempt.sender);
    if (former && isWanted(former.status)) waits.push(attempt.sentAt - former.endedAt);
    last.set(attempt.sender, attempt);
  }
  return waits;
}

/** The percentage of the waits that end in the fullest tenth of a second. Without a random part it is 100. */
export function fullestTenth(waits: readonly number[]): number {
  const slots = new Map<number, number>();
  for (const wait of waits) {
    const slot = Math.floor(wait / WAVE_MS);
    slots.set(slot, (slots.get(slot) ?? 0) + 1);
  }
  return (100 * Math.max(0, ...slots.values())) / Math.max(1, waits.length);
}
