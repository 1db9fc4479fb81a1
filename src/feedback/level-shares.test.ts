import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../test/support/random-numbers.ts';
import type { Endpoint } from '../model/index.ts';
import { weightedSlots } from '../plan/weighted-slots.ts';
import { levelShares } from './level-shares.ts';

const loadsOf = (counts: readonly number[]) => counts.map(connections => ({ connections, part: 1 }));
const spread = (counts: readonly number[]) => Math.max(...counts) - Math.min(...counts);

test('BALANCE-62 endpoints with equal loads have equal shares', () => {
  assert.deepEqual(levelShares(loadsOf([7, 7, 7]), 10), [1, 1, 1]);
  assert.deepEqual(levelShares(loadsOf([7, 8, 7]), 10), [1, 1, 1]);
  assert.deepEqual(levelShares(loadsOf([1000, 1019, 981]), 10), [1, 1, 1]);
  assert.deepEqual(levelShares([], 10), []);
});

test('BALANCE-62 an endpoint that lacks connections gets more of the next ones', () => {
  assert.deepEqual(levelShares(loadsOf([10, 10, 4]), 0), [0.1, 0.1, 1]);
  assert.deepEqual(levelShares(loadsOf([10, 10, 4]), 30), [0.4, 0.4, 0.7]);
  assert.deepEqual(levelShares(loadsOf([0, 100]), 1), [1, 0.1]);
});

test('BALANCE-62 an endpoint in slow start is level with fewer connections', () => {
  const started = { connections: 100, part: 1 };
  assert.deepEqual(levelShares([started, { connections: 10, part: 0.1 }], 10), [1, 0.1]);
  const [, share = 0] = levelShares([started, { connections: 0, part: 0.1 }], 100);
  assert.ok(share < 0.5, `${share}`);
});

test('BALANCE-62 the sum of unequal shares is the same, as long as none has the largest or smallest', () => {
  for (const counts of [
    [20, 21, 25, 22, 20],
    [30, 20, 24, 25, 21],
    [5, 9, 5, 7, 6],
  ]) {
    const shares = levelShares(loadsOf(counts), 60);
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

/** Endpoints by number that take turns over slots, with open connections. */
class Simulation {
  readonly counts: number[];
  #slots: readonly number[];
  #turn = 0;
  replans = 0;
  #shares = '';

  constructor(counts: readonly number[]) {
    this.counts = [...counts];
    this.#slots = [...counts.keys()];
  }

  /** Returns the endpoint. */
  open(): number {
    const endpoint = this.#slots[this.#turn++ % this.#slots.length] ?? 0;
    this.counts[endpoint] = (this.counts[endpoint] ?? 0) + 1;
    return endpoint;
  }

  close(endpoint: number): void {
    this.counts[endpoint] = (this.counts[endpoint] ?? 0) - 1;
  }

  /** Changes the slots by the counts, as the proxy does once a second. */
  level(arrivals: number): void {
    const shares = levelShares(loadsOf(this.counts), arrivals);
    if (shares.join() === this.#shares) return;
    this.#shares = shares.join();
    this.replans++;
    const endpoints = this.counts.map((_, i) => ({ text: `${i}` }) as Endpoint);
    const slots = weightedSlots(endpoints, ({ text }) => shares[Number(text)] ?? 1);
    this.#slots = slots.map(({ text }) => Number(text));
  }
}

for (const size of [2, 3, 10, 50]) {
  test(`BALANCE-62 ${size} endpoints with unequal loads become level with few more connections, and stay so`, () => {
    const random = randomNumbers(size);
    const simulation = new Simulation(Array.from({ length: size }, () => Math.floor(random() * 30)));
    const before = spread(simulation.counts);
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < size; i++) simulation.open();
      simulation.level(size);
    }
    assert.ok(before > 1 && spread(simulation.counts) <= 2, `${before} → ${spread(simulation.counts)}`);
    const replans = simulation.replans;
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < size; i++) simulation.open();
      simulation.level(size);
    }
    assert.ok(simulation.replans - replans <= 2, 'the shares do not change any more');
    assert.ok(spread(simulation.counts) <= 2);
  });

  test(`BALANCE-62 under random arrivals and departures, ${size} endpoints stay closer than with plain turns`, () => {
    const means = [true, false].map(isLevelled => meanSpread(size, isLevelled));
    const [levelled = 0, turns = 0] = means;
    assert.ok(levelled < 0.8 * turns, `mean of max - min: ${levelled.toFixed(1)}, in turns ${turns.toFixed(1)}`);
  });
}

/** The mean of max - min over ten minutes: one arrival a second for each endpoint, which stays about 40 seconds. */
function meanSpread(size: number, isLevelled: boolean): number {
  const random = randomNumbers(7);
  const simulation = new Simulation(new Array<number>(size).fill(0));
  let open: number[] = [];
  let sum = 0;
  const seconds = 600;
  for (let second = 0; second < seconds; second++) {
    open = open.filter(endpoint => {
      const stays = random() > 1 / 40;
      if (!stays) simulation.close(endpoint);
      return stays;
    });
    const arrivals = Math.floor(random() * 2 * size + 0.5);
    for (let i = 0; i < arrivals; i++) open.push(simulation.open());
    if (isLevelled) simulation.level(arrivals);
    if (second >= seconds / 2) sum += spread(simulation.counts);
  }
  return sum / (seconds / 2);
}
