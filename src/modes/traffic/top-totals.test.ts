import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Shown, TopTotals } from './top-totals.ts';

type Name = { readonly service: string };

function shown(counts: Readonly<Record<string, number>>, active = 0): readonly Shown<Name>[] {
  return Object.entries(counts).map(([service, connections]) => ({
    id: service,
    family: 'IPv4',
    labels: { service },
    figures: { connections, active },
  }));
}

function seriesOf(totals: TopTotals<Name>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    totals.series.map(({ labels, figures }) => [labels?.service ?? 'other', figures.connections ?? -1]),
  );
}

test('METRICS-10 the busiest have names, and all others are one sum', () => {
  const totals = new TopTotals<Name>(2);
  totals.take(shown({ a: 1, b: 5, c: 3, d: 0 }));
  assert.deepEqual(seriesOf(totals), { b: 5, c: 3, other: 1 });
});

test('METRICS-10 a name stays until something else is more than twice as busy', () => {
  const totals = new TopTotals<Name>(1);
  totals.take(shown({ a: 100, b: 10 }));
  totals.take(shown({ a: 100, b: 180 }));
  assert.deepEqual(seriesOf(totals), { a: 100, other: 180 }, 'b had 179 of late, a had 90');
  totals.take(shown({ a: 100, b: 380 }));
  assert.deepEqual(seriesOf(totals), { b: 380, other: 180 });
});

test('METRICS-10 the sum of the others keeps what a series carried before it had a name, and does not decrease', () => {
  const totals = new TopTotals<Name>(1);
  totals.take(shown({ a: 10, b: 1 }));
  totals.take(shown({ a: 10, b: 100 }));
  assert.deepEqual(seriesOf(totals), { b: 100, other: 1 });
  totals.take(shown({ a: 15, b: 110 }));
  assert.deepEqual(seriesOf(totals), { b: 110, other: 6 }, 'a lost its name and adds only what is new');
});

test('METRICS-10 something that is gone frees its name', () => {
  const totals = new TopTotals<Name>(1);
  totals.take(shown({ a: 10, b: 1 }));
  totals.take(shown({ b: 2 }));
  assert.deepEqual(seriesOf(totals), { b: 2, other: 1 });
});

test('TRAFFIC-10 open connections of the others are a sum of this moment', () => {
  const totals = new TopTotals<Name>(1);
  totals.take(shown({ a: 10, b: 1, c: 1 }, 3));
  assert.equal(totals.series.find(({ labels }) => !labels)?.figures.active, 6);
  totals.take(shown({ a: 10, b: 1, c: 1 }, 0));
  assert.equal(totals.series.find(({ labels }) => !labels)?.figures.active, 0);
});

test('METRICS-10 for any counters, the number of names stays within the limit and no series decreases', () => {
  const step = fc.array(fc.nat(50), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      const totals = new TopTotals<Name>(2);
      const sums = [0, 0, 0, 0, 0, 0];
      let before: Readonly<Record<string, number>> = {};
      for (const increments of steps) {
        for (const [i, add] of increments.entries()) sums[i] = (sums[i] ?? 0) + add;
        totals.take(shown(Object.fromEntries(sums.map((sum, i) => [`s${i}`, sum]))));
        const now = seriesOf(totals);
        assert.ok(Object.keys(now).length <= 3);
        for (const [name, value] of Object.entries(now)) assert.ok(value >= (before[name] ?? 0), name);
        before = { ...before, ...now };
      }
    }),
  );
});
