import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSet } from '../../../observe/metrics/index.ts';
import type { ServiceCounters } from './service-counters.ts';
import { registerServiceMetrics } from './service-metrics.ts';

function counters(service: string, connections: number, port = ''): ServiceCounters {
  const bytes = { bytesIn: connections * 10, bytesOut: connections * 20 };
  return {
    family: 'IPv4',
    service,
    port,
    protocol: 'TCP',
    connections,
    active: 1,
    ...bytes,
    dialFailures: 2,
    failures: 3,
  };
}

function register() {
  const set = new MetricSet();
  const state: { now: readonly ServiceCounters[] } = { now: [] };
  registerServiceMetrics(set, () => state.now);
  const lines = async (name: string) =>
    (await set.text()).split('\n').filter(line => line.startsWith(`pointsman_userspace_${name}{`));
  return { state, lines };
}

test('METRICS-12 the counters of proxies are shown by service port', async () => {
  const { state, lines } = register();
  state.now = [counters('shop/web', 5, 'http')];
  const labels = 'ip_family="IPv4",port="http",protocol="TCP",service="shop/web"';
  assert.deepEqual(await lines('connections_total'), [`pointsman_userspace_connections_total{${labels}} 5`]);
  assert.deepEqual(await lines('connections'), [`pointsman_userspace_connections{${labels}} 1`]);
  assert.deepEqual(await lines('dial_failures_total'), [`pointsman_userspace_dial_failures_total{${labels}} 2`]);
  assert.deepEqual(await lines('failures_total'), [`pointsman_userspace_failures_total{${labels}} 3`]);
  assert.deepEqual(await lines('bytes_total'), [
    `pointsman_userspace_bytes_total{direction="in",${labels}} 50`,
    `pointsman_userspace_bytes_total{direction="out",${labels}} 100`,
  ]);
});

test('METRICS-12 a hundred service ports keep their names; the sum of the others never decreases', async () => {
  const { state, lines } = register();
  const hundred = Array.from({ length: 100 }, (_, i) => counters(`ns/s${i}`, 100 + i));
  state.now = [...hundred, counters('ns/small', 7)];
  const other = async () => (await lines('connections_total')).find(line => line.includes('service="other"'));
  assert.match((await other()) ?? '', / 7$/);
  state.now = [...hundred, counters('ns/small', 5000)];
  assert.match((await other()) ?? '', / 5000$/, 'a service port that is busy later does not take the name of another');
  state.now = hundred;
  assert.match((await other()) ?? '', / 5000$/);
  assert.equal((await lines('connections_total')).length, 101);
});
