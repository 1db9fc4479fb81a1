import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../test/support/random-numbers.ts';
import type { Endpoint } from '../model/index.ts';
import { weightedSlots } from '../plan/weighted-slots.ts';
import { Leveling } from './leveling.ts';

const loadsOf = (counts: readonly number[]) => counts.map(connections => ({ connections, part: 1 }));
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
const spread = (counts: readonly number[]) => Math.max(...counts) - Math.min(...counts);

test('BALANCE-62 endpoints with equal loads have equal shares, also during a slow start', () => {
  for (const counts of [[7, 7, 7], [7, 8, 7], [1000, 1019, 981], []]) {
    for (let look = 0; look < 100; look++) {
      assert.deepEqual(
        new Leveling().shares(loadsOf(counts), 10),
        counts.map(() => 1),
      );
    }
  }
  const starting = [
    { connections: 100, part: 1 },
    { connections: 10, part: 0.1 },
  ];
  assert.deepEqual(new Leveling().shares(starting, 10), [1, 0.1]);
});

test('BALANCE-62 small differences are left alone from time to time, large ones never', () => {
  // A quarter of the open connections comes between two looks.
  const corrections = (counts: readonly number[]) => {
    const leveling = new Leveling();
    return Array.from({ length: 20 }, () => spread(leveling.shares(loadsOf(counts), sum(counts) / 4)) > 0);
  };
  const cycle = [...new Array<boolean>(4).fill(true), ...new Array<boolean>(6).fill(false)];
  for (const small of [
    [11, 9],
    [13, 7],
    [10, 10, 5],
  ]) {
    assert.deepEqual(corrections(small), [...cycle, ...cycle], `${small}`);
  }
  for (const large of [
    [14, 6],
    [10, 10, 4],
    [800, 1200],
  ]) {
    assert.deepEqual(corrections(large), new Array<boolean>(20).fill(true), `${large}`);
  }
});

/** Endpoints by number that take turns over slots, with open connections. */
class Simulation {
  readonly counts: number[];
  readonly #leveling = new Leveling();
  #slots: readonly number[];
  #turn = 0;
  changes = 0;
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

  addEndpoint(): void {
    this.#slots = [...this.#slots, this.counts.length];
    this.counts.push(0);
  }

  /** Changes the slots by the counts, as the proxy does once a second. */
  level(arrivals: number): void {
    const shares = this.#leveling.shares(loadsOf(this.counts), arrivals);
    if (shares.join() === this.#shares) return;
    this.#shares = shares.join();
    this.changes++;
    const endpoints = this.counts.map((_, i) => ({ text: `${i}` }) as Endpoint);
    const slots = spread(shares) === 0 ? endpoints : weightedSlots(endpoints, ({ text }) => shares[Number(text)] ?? 1);
    // The kernel begins to count anew if the number of slots changes.
    if (slots.length !== this.#slots.length) this.#turn = 0;
    this.#slots = slots.map(({ text }) => Number(text));
  }
}

interface Load {
  readonly endpoints: number;
  /** New connections in a second. */
  readonly rate: number;
  /** How long each connection stays, in seconds. */
  readonly stay: number;
}

/**
 * After a last endpoint has joined, connections come at the same rate and stay for the same time. Returns after how many
 * of these times all endpoints were within one connection of the mean and stayed so.
 */
function staysUntilLevel({ endpoints, rate, stay }: Load, stays: number): number {
  const simulation = new Simulation(new Array<number>(endpoints - 1).fill(0));
  const open = Array.from({ length: rate * stay }, () => simulation.open());
  simulation.addEndpoint();
  let last = 0;
  for (let second = 0; second < stays * stay; second++) {
    for (let i = 0; i < rate; i++) {
      simulation.close(open.shift() ?? 0);
      open.push(simulation.open());
      const mean = sum(simulation.counts) / endpoints;
      if (simulation.counts.some(count => Math.abs(count - mean) > 1)) last = second + 1;
    }
    simulation.level(rate);
  }
  return last / stay;
}

test('BALANCE-62 under any steady load all endpoints are soon within one connection of the mean, and stay so', () => {
  const random = randomNumbers(1);
  const between = (low: number, high: number) => Math.round(low * (high / low) ** random());
  for (let round = 0; round < 150; round++) {
    const endpoints = between(2, 30);
    const load = { endpoints, rate: between(Math.max(2, endpoints / 3), 100), stay: between(2, 60) };
    if (load.rate * load.stay < 2 * endpoints) continue;
    const stays = staysUntilLevel(load, 40);
    assert.ok(stays <= 20, `${JSON.stringify(load)}: ${stays}`);
  }
});

for (const size of [2, 3, 10, 50]) {
  test(`BALANCE-62 ${size} endpoints with unequal loads become level with few more connections, and stay so`, () => {
    const random = randomNumbers(size);
    const simulation = new Simulation(Array.from({ length: size }, () => Math.floor(random() * 30)));
    const before = spread(simulation.counts);
    const pass = () => {
      for (let second = 0; second < 60; second++) {
        for (let i = 0; i < size; i++) simulation.open();
        simulation.level(size);
      }
    };
    pass();
    assert.ok(before > 1 && spread(simulation.counts) <= 2, `${before} → ${spread(simulation.counts)}`);
    const { changes } = simulation;
    pass();
    assert.ok(simulation.changes - changes <= 2, 'the shares do not change any more');
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
