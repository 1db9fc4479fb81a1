import type { Endpoint } from '../model/index.ts';

/** More slots than this are not worth their memory. An endpoint with a weight still has one. */
const MAX_SLOTS = 1024;
/** Shares of slow start are tenths. */
const PARTS = 10;

/** Repeats endpoints by their weights. Those of one endpoint lie far apart, so that turns are even, too. */
export function weightedSlots(
  endpoints: readonly Endpoint[],
  weightOf: (endpoint: Endpoint) => number,
): readonly Endpoint[] {
  const turns = endpoints.map((endpoint, i) => ({
    endpoint,
    count: counts(endpoints.map(weightOf))[i] ?? 1,
    credit: 0,
  }));
  const total = turns.reduce((sum, { count }) => sum + count, 0);
  const slots: Endpoint[] = [];
  while (slots.length < total) {
    let best = turns[0];
    for (const turn of turns) {
      turn.credit += turn.count;
      if (best && turn.credit > best.credit) best = turn;
    }
    if (!best) break;
    best.credit -= total;
    slots.push(best.endpoint);
  }
  return slots;
}

/** Whole numbers in the ratio of the weights, as small as possible. */
function counts(weights: readonly number[]): readonly number[] {
  const whole = weights.every(Number.isInteger)
    ? weights
    : weights.map(weight => Math.max(1, Math.round(weight * PARTS)));
  const divisor = whole.reduce(greatestCommonDivisor, 0);
  const smallest = whole.map(count => count / divisor);
  const total = smallest.reduce((sum, count) => sum + count, 0);
  if (total <= MAX_SLOTS) return smallest;
  return smallest.map(count => Math.max(1, Math.round((count * MAX_SLOTS) / total)));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
