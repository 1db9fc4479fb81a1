import type { Endpoint } from '../model/index.ts';

/** More slots than this are not worth their memory. */
const MAX_SLOTS = 1024;
/** But with many endpoints there are this many for each on average, so that weights still differ. */
const SLOTS_FOR_ENDPOINT = 4;
/** Shares of slow start are tenths. */
const PARTS = 10;

/**
 * Repeats endpoints by their weights. Each has at least one slot. Those of one endpoint lie evenly: if it has n slots,
 * and the list is cut into n equal parts, then each part has one of them. So turns over the list are even, too.
 */
export function weightedSlots(
  endpoints: readonly Endpoint[],
  weightOf: (endpoint: Endpoint) => number,
): readonly Endpoint[] {
  const counts = slotCounts(endpoints.map(weightOf));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const parts = sortedParts(counts, total);
  const free = new FreeSlots(total);
  const slots = new Array<Endpoint | undefined>(total).fill(undefined);
  for (const { endpoint, start } of parts) slots[free.take(start)] = endpoints[endpoint];
  return slots.filter(slot => slot !== undefined);
}

/** Where an endpoint should have a slot. */
interface Part {
  /** The number of the endpoint. */
  readonly endpoint: number;
  readonly start: number;
}

/**
 * The parts of all endpoints, those that end first at the beginning. If each takes the first free slot in this order,
 * then every part gets a slot of its own.
 */
function sortedParts(counts: readonly number[], total: number): readonly Part[] {
  const byEnd = Array.from({ length: total + 1 }, (): Part[] => []);
  counts.forEach((count, endpoint) => {
    for (let i = 0; i < count; i++) {
      byEnd[Math.ceil(((i + 1) * total) / count)]?.push({ endpoint, start: Math.floor((i * total) / count) });
    }
  });
  return byEnd.flat();
}

/** Finds the first free slot after another one, in nearly constant time. */
class FreeSlots {
  /** Where to look next. A free slot has its own number. */
  readonly #next: Int32Array;

  constructor(size: number) {
    this.#next = Int32Array.from({ length: size + 1 }, (_, i) => i);
  }

  take(from: number): number {
    const next = this.#next;
    let slot = from;
    while (next[slot] !== slot) {
      const after = next[slot] ?? slot;
      next[slot] = next[after] ?? after;
      slot = after;
    }
    next[slot] = slot + 1;
    return slot;
  }
}

/** Whole numbers in the ratio of the weights, as small as possible, and at least 1. */
function slotCounts(weights: readonly number[]): readonly number[] {
  const whole = weights.every(Number.isInteger)
    ? weights
    : weights.map(weight => Math.max(1, Math.round(weight * PARTS)));
  const divisor = whole.reduce(greatestCommonDivisor, 0);
  const smallest = whole.map(count => count / divisor);
  const total = smallest.reduce((sum, count) => sum + count, 0);
  const limit = Math.max(MAX_SLOTS, weights.length * SLOTS_FOR_ENDPOINT);
  return total <= limit ? smallest : smallest.map(count => Math.max(1, Math.round((count * limit) / total)));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
