import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HistoryRow } from '../../../../../inspect/index.ts';
import { historyItems } from './history-rows.ts';

function row(id: number, overrides: Partial<HistoryRow> = {}): HistoryRow {
  return {
    id,
    kind: 'change',
    time: new Date(id * 1000).toISOString(),
    object: 'Service shop/web',
    service: 'shop/web',
    family: 'IPv4',
    change: 'endpoints: 1 new',
    cause: 'EndpointSlice web-1 updated',
    triggered: undefined,
    state: 'written',
    plannedMs: 2,
    writtenMs: 10,
    syncMs: 5,
    fullSync: undefined,
    count: undefined,
    lastTime: undefined,
    ...overrides,
  };
}

describe('the history of a Service', () => {
  test('PAGE-72 has the newest entry first, with the times to the plan and to the kernel', () => {
    const items = historyItems([row(1), row(2, { plannedMs: 0.44, writtenMs: 20, fullSync: true })]);
    assert.deepEqual(
      items.map(({ row: { id }, latency }) => [id, latency]),
      [
        [2, '0.4 ms to the plan, 20 ms to the kernel, full sync'],
        [1, '2.0 ms to the plan, 10 ms to the kernel'],
      ],
    );
  });

  test('PAGE-72 the longest time has the whole bar, and others their share of it', () => {
    const [long, short] = historyItems([row(1), row(2, { plannedMs: 5, writtenMs: 20 })]);
    assert.deepEqual(long?.bar, { planned: 0.25, written: 0.75 });
    assert.deepEqual(short?.bar, { planned: 0.1, written: 0.4 });
  });

  test('PAGE-72 an entry without a time says why', () => {
    const latency = (overrides: Partial<HistoryRow>) =>
      historyItems([row(1, { writtenMs: undefined, ...overrides })])[0];
    assert.equal(latency({ state: 'waiting' })?.latency, 'not written yet');
    assert.equal(latency({ state: 'waiting' })?.tone, 'warn');
    assert.equal(latency({ state: 'setAside' })?.latency, 'set aside');
    assert.equal(latency({ state: 'setAside' })?.tone, 'bad');
    assert.equal(latency({ state: undefined })?.latency, 'nothing to write');
    assert.equal(latency({})?.bar, undefined);
  });
});
