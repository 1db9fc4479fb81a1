import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { BUILD, createMetrics, measureEverything, reader } from '../../../test/support/metrics.ts';
import { type MetricFamily, parsePrometheusText } from '../../../test/support/prometheus-text.ts';
import type { ProxyMetrics } from './index.ts';

describe('metrics', () => {
  const open: ProxyMetrics[] = [];
  afterEach(() => {
    for (const metrics of open.splice(0)) metrics.close();
  });

  function create(clock = new ManualClock(1_794_728_208_500)): ProxyMetrics {
    const metrics = createMetrics(true, clock);
    open.push(metrics);
    return metrics;
  }

  test('METRICS-1 a metric with labels appears with its first sample, a counter and one without labels at once', async () => {
    const families = parsePrometheusText(await create().text());
    assert.deepEqual(
      [...families.keys()].filter(name => name.startsWith('kubeproxy_')),
      [
        'kubeproxy_proxy_healthz_total',
        'kubeproxy_proxy_livez_total',
        'kubeproxy_sync_proxy_rules_endpoint_changes_pending',
        'kubeproxy_sync_proxy_rules_endpoint_changes_total',
        'kubeproxy_sync_proxy_rules_service_changes_pending',
        'kubeproxy_sync_proxy_rules_service_changes_total',
      ],
    );
  });

  test('METRICS-1 the buckets are those of upstream', async () => {
    const metrics = create();
    measureEverything(metrics);
    const families = parsePrometheusText(await metrics.text());
    const doubling = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
    const programming = [0, 0.25, 0.5];
    for (let second = 1; second < 60; second++) programming.push(second);
    for (let second = 60; second < 120; second += 5) programming.push(second);
    for (let second = 120; second <= 300; second += 30) programming.push(second);
    assert.equal(programming.length, 81);
    assert.deepEqual(boundsOf(families, 'kubeproxy_sync_proxy_rules_duration_seconds'), doubling);
    assert.deepEqual(boundsOf(families, 'kubeproxy_conntrack_reconciler_sync_duration_seconds'), doubling);
    assert.deepEqual(boundsOf(families, 'kubeproxy_network_programming_duration_seconds'), programming);
  });

  test('METRICS-2 durations of syncs are measured for all, full and partial ones, with the times of the last request and success', async () => {
    const clock = new ManualClock(1_794_728_208_500);
    const metrics = create(clock);
    metrics.syncQueued('IPv4');
    await clock.advance(250);
    metrics.syncFinished('IPv4', 0.2, { full: true, success: true });
    await clock.advance(1000);
    metrics.syncFinished('IPv4', 0.003, { full: false, success: false });
    const value = await reader(metrics);
    const family = { ip_family: 'IPv4' };
    assert.equal(value('kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds', family), 1_794_728_208.5);
    assert.equal(value('kubeproxy_sync_proxy_rules_last_timestamp_seconds', family), 1_794_728_208.75);
    assert.equal(value('kubeproxy_sync_proxy_rules_duration_seconds_count', family), 2);
    assert.equal(value('kubeproxy_sync_proxy_rules_duration_seconds_sum', family), 0.203);
    assert.equal(value('kubeproxy_sync_full_proxy_rules_duration_seconds_bucket', { ...family, le: '0.128' }), 0);
    assert.equal(value('kubeproxy_sync_full_proxy_rules_duration_seconds_bucket', { ...family, le: '0.256' }), 1);
    assert.equal(value('kubeproxy_sync_partial_proxy_rules_duration_seconds_count', family), 1);
    assert.equal(value('pointsman_sync_failures_total', family), 1);
    assert.equal(value('kubeproxy_sync_proxy_rules_duration_seconds_count', { ip_family: 'IPv6' }), undefined);
  });

  test('METRICS-2 network programming latency falls into the bucket of its trigger time', async () => {
    const clock = new ManualClock(Date.parse('2026-05-04T10:00:03.25Z'));
    const metrics = create(clock);
    const trigger = Date.parse('2026-05-04T10:00:00Z');
    metrics.networkProgramming('IPv6', (clock.now() - trigger) / 1000);
    metrics.networkProgramming('IPv6', -2);
    const value = await reader(metrics);
    const bucket = (le: string) =>
      value('kubeproxy_network_programming_duration_seconds_bucket', { ip_family: 'IPv6', le });
    assert.deepEqual(['0.25', '3', '4', '+Inf'].map(bucket), [1, 1, 2, 2]);
    assert.equal(value('kubeproxy_network_programming_duration_seconds_sum', { ip_family: 'IPv6' }), 3.25);
  });

  test('METRICS-2 changes so far and changes that wait are read at each scrape', async () => {
    const metrics = create();
    let changes = { endpointSlices: 3, services: 2, pendingEndpoints: 2, pendingServices: 5 };
    metrics.onScrape(() => metrics.changes(changes));
    const read = async () => {
      const value = await reader(metrics);
      return [
        'endpoint_changes_total',
        'endpoint_changes_pending',
        'service_changes_total',
        'service_changes_pending',
      ].map(name => value(`kubeproxy_sync_proxy_rules_${name}`));
    };
    assert.deepEqual(await read(), [3, 2, 2, 5]);
    changes = { ...changes, services: 4, pendingEndpoints: 0, pendingServices: 0 };
    assert.deepEqual(await read(), [3, 0, 4, 0]);
  });

  test('METRICS-3 the process, the build, features and requests to the API server are measured', async () => {
    const metrics = create();
    measureEverything(metrics);
    const value = await reader(metrics);
    assert.equal(value('kubernetes_build_info', { ...BUILD }), 1);
    assert.equal(value('kubernetes_feature_enabled', { name: 'AllAlpha', stage: 'ALPHA' }), 0);
    assert.equal(value('kubernetes_feature_enabled', { name: 'KubeProxyDrainingTerminatingNodes', stage: '' }), 1);
    assert.equal(value('rest_client_requests_total', { code: '200', host: 'api:6443', method: 'GET' }), 1);
    assert.equal(value('rest_client_requests_total', { code: '<error>', host: 'api:6443', method: 'GET' }), 1);
    const get = { host: 'api:6443', verb: 'GET' };
    assert.equal(value('rest_client_request_retries_total', { code: '200', ...get }), 1);
    assert.equal(value('rest_client_request_duration_seconds_sum', get), 0.1);
    assert.equal(value('rest_client_response_size_bytes_bucket', { ...get, le: '16384' }), 1);
    assert.equal(value('rest_client_response_size_bytes_bucket', { ...get, le: '4096' }), 0);
    assert.equal(value('rest_client_response_size_bytes_bucket', { ...get, le: '1.048576e+06' }), 1);
    assert.equal(value('rest_client_request_size_bytes_sum', get), 0);
    assert.equal(value('rest_client_rate_limiter_duration_seconds_sum', get), 0.2);
    const started = value('process_start_time_seconds') ?? 0;
    assert.ok(Math.abs(Date.now() / 1000 - process.uptime() - started) < 2);
    const figures = ['resident_memory', 'virtual_memory', 'heap'].map(name => `${name}_bytes`);
    for (const name of [...figures, 'cpu_seconds_total', 'open_fds', 'max_fds']) {
      assert.ok((value(`process_${name}`) ?? 0) > 0, name);
    }
  });

  test('METRICS-4 service ports, repairs, batches, watches, configuration and health are measured', async () => {
    const clock = new ManualClock(1_000_000);
    const metrics = create(clock);
    measureEverything(metrics);
    metrics.watchMessage('services');
    await clock.advance(12_500);
    const value = await reader(metrics);
    const family = { ip_family: 'IPv4' };
    assert.equal(value('pointsman_service_ports', { ...family, status: 'programmed' }), 12);
    assert.equal(value('pointsman_service_ports', { ...family, status: 'set_aside' }), 2);
    assert.equal(value('pointsman_service_ports_set_aside_total', { ...family, reason: 'EEXIST' }), 1);
    assert.equal(value('pointsman_service_ports_set_aside_total', { ...family, reason: 'other' }), 1);
    assert.equal(value('pointsman_drift_repairs_total', family), 1);
    assert.equal(value('pointsman_ended_connections_total', family), 3);
    assert.equal(value('pointsman_endpoint_ejections_total', family), 1);
    assert.equal(value('pointsman_kernel_batch_objects_bucket', { ...family, le: '1024' }), 1);
    assert.equal(value('pointsman_kernel_batch_objects_bucket', { ...family, le: '256' }), 0);
    assert.equal(value('pointsman_kernel_batch_duration_seconds_sum', family), 0.02);
    assert.equal(value('pointsman_kernel_refusals_total', family), 1);
    assert.equal(value('pointsman_watch_age_seconds', { resource: 'services' }), 12.5);
    assert.equal(value('pointsman_configuration_refused'), 1);
    assert.equal(value('pointsman_configuration_refusals_total'), 1);
    assert.equal(value('pointsman_healthy'), 0);
    metrics.configurationAccepted();
    assert.equal((await reader(metrics))('pointsman_configuration_refused'), 0);
  });

  test('METRICS-4 the lag of the event loop is measured', async t => {
    let tick = () => {};
    t.mock.method(globalThis, 'setInterval', (fn: () => void) => {
      tick = fn;
      return { unref: () => {} };
    });
    let now = 1000;
    t.mock.method(performance, 'now', () => now);
    const metrics = create();
    now += 500 + 300;
    tick();
    const value = await reader(metrics);
    assert.equal(value('pointsman_event_loop_lag_seconds_count'), 1);
    assert.equal(value('pointsman_event_loop_lag_seconds_sum'), 0.3);
  });
});

function boundsOf(families: ReadonlyMap<string, MetricFamily>, name: string): number[] {
  const buckets = families.get(name)?.samples.filter(({ labels }) => labels.ip_family === 'IPv4') ?? [];
  return buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
}
