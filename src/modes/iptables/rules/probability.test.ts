import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probability } from './probability.ts';

test('IPT-1 probabilities have ten decimals, rounded as Go rounds', () => {
  const numbers = [1, 2, 3, 6, 7, 10, 2047, 2048, 2049, 100_001];
  assert.deepEqual(numbers.map(probability), [
    '1.0000000000',
    '0.5000000000',
    '0.3333333333',
    '0.1666666667',
    '0.1428571429',
    '0.1000000000',
    '0.0004885198',
    '0.0004882812',
    '0.0004880429',
    '0.0000099999',
  ]);
});

test('IPT-1 probabilities never grow with the number of endpoints', () => {
  for (let n = 2; n <= 20_000; n++) assert.ok(probability(n) <= probability(n - 1), `${n}`);
});
