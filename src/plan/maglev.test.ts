import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { countSlots, numberedEndpoints } from '../../test/support/slots.ts';
import type { Endpoint } from '../model/index.ts';
import { maglevSlots } from './maglev.ts';

const SAME = () => 1;
const COUNTS = [2, 3, 4, 5, 8, 16, 33, 100, 250, 600];

/** The part of the slots that have another endpoint. */
function moved(before: readonly Endpoint[], after: readonly Endpoint[]): number {
  assert.equal(before.length, after.length);
  return before.filter((endpoint, i) => endpoint !== after[i]).length / before.length;
}

/** Some of the numbers below `count`, far apart. */
function some(count: number): readonly number[] {
  return [...new Set([0, 1, 2, 3, 4].map(i => Math.floor((i * (count - 1)) / 4)))];
}

describe('tables for consistent hashing', () => {
  test('BALANCE-10 all endpoints have slots, and none has more than 1.25 times its share and one', () => {
    for (const count of [1, ...COUNTS]) {
      const slots = maglevSlots(numberedEndpoints(count), SAME);
      const counts = [...countSlots(slots).values()];
      assert.equal(counts.length, count);
      assert.ok(Math.max(...counts) <= (1.25 * slots.length) / count + 1, `${Math.max(...counts)} of ${count}`);
      const squares = counts.reduce((sum, own) => sum + (own - slots.length / count) ** 2, 0);
      const deviation = Math.sqrt(squares / count) / (slots.length / count);
      assert.ok(deviation < (count <= 100 ? 0.13 : 0.27), `deviation ${deviation} of ${count}`);
    }
  });

  test('BALANCE-11 if one of N endpoints goes or comes, about one in N slots changes its endpoint', () => {
    for (const count of COUNTS) {
      const endpoints = numberedEndpoints(count);
      const all = maglevSlots(endpoints, SAME);
      const parts = some(count).map(gone => moved(all, maglevSlots(endpoints.toSpliced(gone, 1), SAME)));
      const mean = parts.reduce((a, b) => a + b, 0) / parts.length;
      assert.ok(mean * count < 1.4, `${mean * count}/N with ${count}`);
      assert.ok(Math.max(...parts) * count < 2, `${Math.max(...parts) * count}/N with ${count}`);
    }
  });

  test('BALANCE-11 the size of the table is the same from 1 to 1,024 endpoints', () => {
    assert.equal(maglevSlots(numberedEndpoints(1), SAME).length, 4093);
    assert.equal(maglevSlots(numberedEndpoints(1024), SAME).length, 4093);
    assert.equal(maglevSlots(numberedEndpoints(1025), SAME).length, 32_749);
  });

  test('BALANCE-11 with weights, about the share of the endpoint that goes changes', () => {
    for (const count of [3, 10, 100, 600]) {
      const endpoints = numberedEndpoints(count);
      const weights = new Map(endpoints.map((endpoint, i) => [endpoint, 1 + (i % 5)]));
      const weightOf = (endpoint: Endpoint) => weights.get(endpoint) ?? 0;
      const sum = endpoints.reduce((total, endpoint) => total + weightOf(endpoint), 0);
      const all = maglevSlots(endpoints, weightOf);
      const counts = countSlots(all);
      for (const gone of some(count)) {
        const endpoint = endpoints[gone];
        assert.ok(endpoint);
        const share = (counts.get(endpoint) ?? 0) / all.length;
        const part = moved(all, maglevSlots(endpoints.toSpliced(gone, 1), weightOf));
        assert.ok(part - share < 0.5 / count, `${part} moved instead of ${share}, ${count} endpoints`);
        assert.ok(share <= (1.25 * weightOf(endpoint)) / sum + 1 / all.length, `${share} with ${count}`);
      }
    }
  });

  test('BALANCE-10 shares follow the weights, and the smallest weight has a slot', () => {
    const endpoints = numberedEndpoints(4);
    const weights = [1000, 500, 500, 0.1];
    const counts = countSlots(maglevSlots(endpoints, endpoint => weights[endpoints.indexOf(endpoint)] ?? 0));
    const [most = 0, half = 0, other = 0, least = 0] = endpoints.map(endpoint => counts.get(endpoint));
    assert.equal(least, 1);
    for (const own of [half, other]) assert.ok(own / most > 0.45 && own / most < 0.55, `${own} of ${most}`);
  });

  test('BALANCE-12 the table depends on the endpoints and their weights only', () => {
    const first = maglevSlots(numberedEndpoints(20), SAME).map(({ text }) => text);
    const second = maglevSlots(numberedEndpoints(20), SAME).map(({ text }) => text);
    assert.deepEqual(first, second);
    // Another release must not give all clients another endpoint.
    const digest = createHash('sha256').update(first.join()).digest('hex');
    assert.equal(digest.slice(0, 16), '1633e242be3d1ab6');
  });

  test('BALANCE-16 a table of 5,000 endpoints takes little time, and all of them have slots', () => {
    const endpoints = numberedEndpoints(5000);
    maglevSlots(endpoints, SAME);
    const start = process.cpuUsage();
    const slots = maglevSlots(endpoints, SAME);
    // It takes about 6 ms.
    assert.ok(process.cpuUsage(start).user < 300_000);
    assert.equal(countSlots(slots).size, 5000);
  });
});
