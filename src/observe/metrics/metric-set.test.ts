import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSet } from './metric-set.ts';

test('METRICS-13 the value of a label is bounded, and a series is never there twice', async () => {
  const set = new MetricSet();
  const long = 'x'.repeat(1 << 20);
  set.readCounters('connections_total', ['service'], 'Connections.', async () => [
    { labels: { service: `${long}a` }, value: 1 },
    { labels: { service: `${long}b` }, value: 2 },
    { labels: { service: 'web' }, value: 4 },
  ]);
  const lines = (await set.text()).split('\n').filter(line => line.startsWith('connections_total'));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^connections_total\{service="x{200,}… \(1048577 characters\)"\} 3$/);
  assert.equal(lines[1], 'connections_total{service="web"} 4');
});
