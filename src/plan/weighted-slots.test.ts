import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countSlots, numberedEndpoints } from '../../test/support/slots.ts';
import type { Endpoint } from '../model/index.ts';
import { weightedSlots } from './weighted-slots.ts';

/** The slots of endpoints with these weights, by the index of the endpoint. */
function slotsFor(weights: readonly number[]): readonly number[] {
  const endpoints = numberedEndpoints(weights.length);
  const index = new Map(endpoints.map((endpoint, i) => [endpoint, i]));
  const weightOf = (endpoint: Endpoint) => weights[index.get(endpoint) ?? -1] ?? Number.NaN;
  return weightedSlots(endpoints, weightOf).map(endpoint => index.get(endpoint) ?? -1);
}

/** Weights by a formula, so that a failure can be repeated. */
function variedWeights(count: number, most: number, seed: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => 1 + ((i * 7919 + seed * 104_729 + ((i * i) % 31)) % most));
}

const CASES = [1, 2, 3, 7, 40, 300, 1500].flatMap(count =>
  [2, 10, 1000].flatMap(most => [1, 2, 3].map(seed => variedWeights(count, most, seed))),
);

describe('weighted slots', () => {
  test('BALANCE-8 slots are in the ratio of the weights, with as few slots as possible', () => {
    assert.deepEqual(slotsFor([2, 4]).toSorted(), [0, 1, 1]);
    assert.deepEqual(slotsFor([5, 5, 5]).toSorted(), [0, 1, 2]);
    assert.equal(slotsFor([1, 0.5, 1]).length, 5);
    assert.equal(slotsFor([1, 0.1]).length, 11);
  });

  test('BALANCE-8 every weight has a slot, and the number of slots is at most one from the exact one', () => {
    for (const weights of CASES) {
      const limit = Math.max(1024, 4 * weights.length);
      const sum = weights.reduce((a, b) => a + b, 0);
      const counts = countSlots(slotsFor(weights));
      assert.equal(counts.size, weights.length);
      const total = [...counts.values()].reduce((a, b) => a + b, 0);
      assert.ok(total <= limit + weights.length, `${total} slots for ${weights.length} endpoints`);
      const scale = Math.min(total, limit) / sum;
      weights.forEach((weight, i) => {
        const exact = weight * (total <= limit ? total / sum : scale);
        const count = counts.get(i) ?? 0;
        assert.ok(Math.abs(count - exact) <= 1.01, `${count} instead of ${exact} of ${weights.length}`);
      });
    }
  });

  test('BALANCE-9 in n equal parts of the list, an endpoint with n slots has one slot in each', () => {
    for (const weights of CASES) {
      const slots = slotsFor(weights);
      const total = slots.length;
      const counts = countSlots(slots);
      const seen = new Map<number, number>();
      slots.forEach((owner, slot) => {
        const nth = seen.get(owner) ?? 0;
        const count = counts.get(owner) ?? 0;
        seen.set(owner, nth + 1);
        const [start, end] = [Math.floor((nth * total) / count), Math.ceil(((nth + 1) * total) / count)];
        assert.ok(slot >= start && slot < end, `slot ${slot} is not from ${start} to ${end}`);
      });
    }
  });

  test('BALANCE-16 weights of 5,000 endpoints give at most 25,000 slots in little time', () => {
    const weights = variedWeights(5000, 1000, 1);
    slotsFor(weights);
    const start = process.cpuUsage();
    assert.ok(slotsFor(weights).length <= 25_000);
    // It takes about 5 ms. A slow way takes seconds.
    assert.ok(process.cpuUsage(start).user < 300_000);
  });
});
