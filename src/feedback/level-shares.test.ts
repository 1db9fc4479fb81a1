import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../test/support/random-numbers.ts';
import { levelShares } from './level-shares.ts';

const loadsOf = (counts: readonly number[]) => counts.map(connections => ({ connections, part: 1 }));

test('BALANCE-62 an endpoint that lacks connections gets more of the next ones', () => {
  assert.deepEqual(levelShares(loadsOf([10, 10, 4]), 0), [0.1, 0.1, 1]);
  assert.deepEqual(levelShares(loadsOf([10, 10, 4]), 10), [0.4, 0.4, 0.7]);
  assert.deepEqual(levelShares(loadsOf([0, 100]), 1), [1, 0.1]);
});

test('BALANCE-62 shares level the endpoints with the connections of three looks, or an eighth of the open ones', () => {
  // Three looks bring 12. Then all endpoints would have 12 connections: 2, 2 and 8 more.
  assert.deepEqual(levelShares(loadsOf([10, 10, 4]), 4), [0.3, 0.2, 1]);
  // 40 of 320 are an eighth, as many as four looks bring.
  const loads = loadsOf([110, 110, 100]);
  assert.deepEqual(levelShares(loads, 0), levelShares(loads, 40 / 3));
  assert.notDeepEqual(levelShares(loads, 0), levelShares(loads, 40));
});

test('BALANCE-62 an endpoint in slow start is level with fewer connections', () => {
  const started = { connections: 100, part: 1 };
  assert.deepEqual(levelShares([started, { connections: 10, part: 0.1 }], 10), [0.9, 0.1]);
  const [, share = 0] = levelShares([started, { connections: 0, part: 0.1 }], 100);
  assert.ok(share < 0.5, `${share}`);
});

test('BALANCE-62 the sum of unequal shares is the same, as long as none has the largest or smallest', () => {
  for (const counts of [
    [20, 21, 25, 22, 20],
    [30, 20, 24, 25, 21],
    [5, 9, 5, 7, 6],
  ]) {
    const shares = levelShares(loadsOf(counts), 20);
    assert.equal(Math.round(shares.reduce((sum, share) => sum + 10 * share, 0)), 25, `${shares}`);
  }
});

test('BALANCE-62 with any loads, shares are tenths from 0.1 to 1, and more connections never mean a larger share', () => {
  const random = randomNumbers(1);
  for (let round = 0; round < 2000; round++) {
    const counts = Array.from({ length: 2 + Math.floor(random() * 49) }, () => Math.floor(random() * 200));
    const shares = levelShares(loadsOf(counts), Math.floor(random() * 500));
    for (const [i, share] of shares.entries()) {
      assert.ok(share >= 0.1 && share <= 1 && Number.isInteger(Math.round(share * 1e6) / 1e5), `${share}`);
      for (const [j, other] of shares.entries()) {
        if ((counts[i] ?? 0) < (counts[j] ?? 0)) assert.ok(share >= other, `${counts} ${shares}`);
      }
    }
  }
});
