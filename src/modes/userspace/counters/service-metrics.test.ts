import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSet } from '../../../observe/metrics/metric-set.ts';
import type { ServiceCounters } from '../../index.ts';
import { userspaceServices } from './service-metrics.ts';

function counters(servicePort: string, connections: number): ServiceCounters {
  const traffic = { active: 1, bytesIn: connections * 10, bytesOut: connections * 20, dialFailures: 2, failures: 3 };
  return { family: 'IPv4', servicePort, protocol: 'TCP', connections, ...traffic };
}

function shown() {
  const set = new MetricSet();
  const state: { now: readonly ServiceCounters[] } = { now: [] };
  userspaceServices(set, () => state.now);
  const lines = async (name: string) =>
    (await set.text()).split('\n').filter(line => line.startsWith(`pointsman_userspace_${name}{`));
  return { state, lines };
}

test('METRICS-12 what went through the proxies of userspace mode, by service port', async () => {
  const { state, lines } = shown();
  state.now = [counters('shop/web:http', 5)];
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

test('METRICS-12 a hundred are named, and keep their names; the rest is summed up and never goes back', async () => {
  const { state, lines } = shown();
  const hundred = Array.from({ length: 100 }, (_, i) => counters(`ns/s${i}`, 100 + i));
  const small = counters('ns/small', 7);
  state.now = [...hundred, small];
  const other = async () => (await lines('connections_total')).find(line => line.includes('service="other"'));
  assert.match((await other()) ?? '', / 7$/);
  state.now = [...hundred, counters('ns/small', 5000)];
  assert.match((await other()) ?? '', / 5000$/, 'a late one does not take the name of another');
  state.now = hundred;
  assert.match((await other()) ?? '', / 5000$/);
  assert.equal((await lines('connections_total')).length, 101);
});
