import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionRates } from './rates.ts';

const unknown = () => undefined;
const connections = (at: number, counts: readonly (readonly [string, number])[]) =>
  ({ kind: 'connections', at, counts }) as const;

test('PAGE-43 rates come from two readings of the counters', () => {
  const rates = new ConnectionRates();
  rates.update(connections(1000, [['a/x', 10]]), unknown);
  assert.equal(rates.rates.size, 0, 'the first reading has no rate');
  rates.update(connections(3000, [['a/x', 30]]), unknown);
  rates.update(connections(3000, [['a/y', 8]]), () => 4);
  assert.deepEqual(
    [...rates.rates],
    [
      ['a/x', 10],
      ['a/y', 2],
    ],
    'a reading may come in several events',
  );
  rates.update(connections(5000, [['a/y', 9]]), unknown);
  assert.deepEqual([...rates.rates], [['a/y', 0.5]], 'a counter that did not change has no new connections');
});

test('PAGE-43 a counter that began anew has no rate', () => {
  const rates = new ConnectionRates();
  rates.update(connections(1000, [['a/x', 100]]), unknown);
  rates.update(connections(2000, [['a/x', 3]]), unknown);
  assert.equal(rates.rates.size, 0);
  assert.equal(rates.countOf('a/x'), 3);
});

test('PAGE-43 without news the rates go', () => {
  const rates = new ConnectionRates();
  rates.update(connections(1000, [['a/x', 1]]), unknown);
  rates.update(connections(3000, [['a/x', 2]]), unknown);
  assert.equal(rates.expire(5000), false);
  assert.equal(rates.expire(6000), true);
  assert.equal(rates.rates.size, 0);
});
