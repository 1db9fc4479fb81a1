import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { type MetricFamily, parsePrometheusText } from '../../../test/support/prometheus-text.ts';
import type { ServerStatistics, ServiceCounters } from '../../modes/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { type BuildInfo, ProxyMetrics } from './index.ts';

const BUILD: BuildInfo = {
  major: '1',
  minor: '36',
  git_version: 'v1.36.4',
  git_commit: 'abc',
  git_tree_state: 'clean',
  build_date: '2026-01-01T00:00:00Z',
  go_version: 'none',
  compiler: 'esbuild',
  platform: 'linux/amd64',
};

/** Upstream's metrics: name, type, labels, modes (I iptables, V ipvs, N nftables), help. */
const UPSTREAM = `
sync_proxy_rules_duration_seconds                        | histogram | ip_family                | IVN | SyncProxyRules latency in seconds
sync_full_proxy_rules_duration_seconds                   | histogram | ip_family                | IN  | SyncProxyRules latency in seconds for full resyncs
sync_partial_proxy_rules_duration_seconds                | histogram | ip_family                | IN  | SyncProxyRules latency in seconds for partial resyncs
sync_proxy_rules_last_timestamp_seconds                  | gauge     | ip_family                | IVN | The last time proxy rules were successfully synced
sync_proxy_rules_last_queued_timestamp_seconds           | gauge     | ip_family                | IVN | The last time a sync of proxy rules was queued
network_programming_duration_seconds                     | histogram | ip_family                | IVN | In Cluster Network Programming Latency in seconds
sync_proxy_rules_endpoint_changes_pending                | gauge     |                          | IVN | Pending proxy rules Endpoint changes
sync_proxy_rules_endpoint_changes_total                  | counter   |                          | IVN | Cumulative proxy rules Endpoint changes
sync_proxy_rules_service_changes_pending                 | gauge     |                          | IVN | Pending proxy rules Service changes
sync_proxy_rules_service_changes_total                   | counter   |                          | IVN | Cumulative proxy rules Service changes
sync_proxy_rules_no_local_endpoints_total                | gauge     | ip_family,traffic_policy | IVN | Number of services with a Local traffic policy and no endpoints
proxy_healthz_total                                      | counter   | code                     | IVN | Cumulative proxy healthz HTTP status
proxy_livez_total                                        | counter   | code                     | IVN | Cumulative proxy livez HTTP status
sync_proxy_rules_iptables_restore_failures_total         | counter   | ip_family                | IV  | Cumulative proxy iptables restore failures
sync_proxy_rules_iptables_partial_restore_failures_total | counter   | ip_family                | I   | Cumulative proxy iptables partial restore failures
sync_proxy_rules_iptables_total                          | gauge     | ip_family,table          | I   | Total number of iptables rules owned by kube-proxy
sync_proxy_rules_iptables_last                           | gauge     | ip_family,table          | I   | Number of iptables rules written by kube-proxy in last sync
sync_proxy_rules_nftables_sync_failures_total            | counter   | ip_family                | N   | Cumulative proxy nftables sync failures
sync_proxy_rules_nftables_cleanup_failures_total         | counter   | ip_family                | N   | Cumulative proxy nftables cleanup failures
conntrack_reconciler_sync_duration_seconds               | histogram | ip_family                | IVN | ReconcileConntrackFlowsLatency latency in seconds
conntrack_reconciler_deleted_entries_total               | counter   | ip_family                | IVN | Cumulative conntrack flows deleted by conntrack reconciler
iptables_ct_state_invalid_dropped_packets_total          | counter   |                          | I   | packets dropped by iptables to work around conntrack problems
iptables_localhost_nodeports_accepted_packets_total      | counter   |                          | I   | Number of packets accepted on nodeports of loopback interface
`;
const MODES = { iptables: 'I', ipvs: 'V', nftables: 'N' } as const;

const upstream = UPSTREAM.trim()
  .split('\n')
  .map(line => line.split('|').map(cell => cell.trim()))
  .map(([name = '', type = '', labels = '', modes = '', help = '']) => ({
    name: `kubeproxy_${name}`,
    type,
    labels,
    modes,
    help: `[ALPHA] ${help}`,
  }));

describe('metrics', () => {
  const open: ProxyMetrics[] = [];
  afterEach(() => {
    for (const metrics of open.splice(0)) metrics.close();
  });

  function create(mode = 'nftables', clock = new ManualClock(1_794_728_208_500)): ProxyMetrics {
    const features = [
      { name: 'KubeProxyDrainingTerminatingNodes', stage: '', enabled: true },
      { name: 'AllAlpha', stage: 'ALPHA', enabled: false },
    ];
    const metrics = new ProxyMetrics({ mode, clock, build: BUILD, features });
    open.push(metrics);
    return metrics;
  }

  for (const [mode, letter] of Object.entries(MODES)) {
    test(`METRICS-1 ${mode} has upstream's metrics: names, types, labels and help, no more and no fewer`, async () => {
      const metrics = create(mode);
      everythingHappens(metrics);
      const own = [...parsePrometheusText(await metrics.text()).values()].filter(({ name }) =>
        name.startsWith('kubeproxy_'),
      );
      assert.deepEqual(
        own.map(family => ({ name: family.name, type: family.type, labels: labelsOf(family), help: family.help })),
        upstream
          .filter(({ modes }) => modes.includes(letter))
          .map(({ modes: _, ...rest }) => rest)
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    });
  }

  test('METRICS-1 a metric with labels shows up with its first sample, one without at once', async () => {
    const families = parsePrometheusText(await create('iptables').text());
    assert.deepEqual(
      [...families.keys()].filter(name => name.startsWith('kubeproxy_')),
      [
        'kubeproxy_sync_proxy_rules_endpoint_changes_pending',
        'kubeproxy_sync_proxy_rules_endpoint_changes_total',
        'kubeproxy_sync_proxy_rules_service_changes_pending',
        'kubeproxy_sync_proxy_rules_service_changes_total',
      ],
    );
  });

  test('METRICS-1 buckets are upstream’s', async () => {
    const metrics = create();
    everythingHappens(metrics);
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

  test('METRICS-2 a sync: durations of all, full and partial ones apart, times of the last request and success', async () => {
    const clock = new ManualClock(1_794_728_208_500);
    const metrics = create('nftables', clock);
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
    const metrics = create('nftables', clock);
    const trigger = Date.parse('2026-05-04T10:00:00Z');
    metrics.networkProgramming('IPv6', (clock.now() - trigger) / 1000);
    metrics.networkProgramming('IPv6', -2);
    const value = await reader(metrics);
    const bucket = (le: string) =>
      value('kubeproxy_network_programming_duration_seconds_bucket', { ip_family: 'IPv6', le });
    assert.deepEqual(['0.25', '3', '4', '+Inf'].map(bucket), [1, 1, 2, 2]);
    assert.equal(value('kubeproxy_network_programming_duration_seconds_sum', { ip_family: 'IPv6' }), 3.25);
  });

  test('METRICS-2 changes, those so far and those that wait, are told when somebody wants to know', async () => {
    const metrics = create();
    let changes = { endpointSlices: 3, services: 2, pendingEndpoints: 2, pendingServices: 5 };
    metrics.beforeText(() => metrics.changes(changes));
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

  test('METRICS-2 what a mode measures goes to the metrics of that mode', async () => {
    const read = async (mode: string) => {
      const metrics = create(mode);
      metrics.measured('IPv4', { kind: 'refused', partial: true });
      metrics.measured('IPv4', { kind: 'refused', partial: false });
      metrics.measured('IPv4', { kind: 'cleanup-failed' });
      metrics.measured('IPv4', { kind: 'rules', table: 'nat', total: 101, last: 7 });
      const families = parsePrometheusText(await metrics.text());
      return [...families.values()]
        .filter(({ name }) => name.startsWith('kubeproxy_') && !name.includes('_changes_'))
        .map(({ name, samples }) => [name.replace('kubeproxy_sync_proxy_rules_', ''), samples[0]?.value]);
    };
    assert.deepEqual(await read('iptables'), [
      ['iptables_last', 7],
      ['iptables_partial_restore_failures_total', 1],
      ['iptables_restore_failures_total', 2],
      ['iptables_total', 101],
    ]);
    assert.deepEqual(await read('ipvs'), [['iptables_restore_failures_total', 2]]);
    assert.deepEqual(await read('nftables'), [
      ['nftables_cleanup_failures_total', 1],
      ['nftables_sync_failures_total', 2],
    ]);
    assert.deepEqual(await read('userspace'), []);
  });

  test('METRICS-2 packets are read from the kernel when asked; what cannot be read is left out', async () => {
    const metrics = create('iptables');
    let packets: number | undefined = 3;
    metrics.readPackets('invalid-dropped', () => packets);
    metrics.readPackets('localhost-nodeports-accepted', () => {
      throw new Error('gone');
    });
    const name = 'kubeproxy_iptables_ct_state_invalid_dropped_packets_total';
    assert.equal((await reader(metrics))(name), 3);
    packets = 9;
    assert.equal((await reader(metrics))(name), 9);
    packets = undefined;
    const families = parsePrometheusText(await metrics.text());
    assert.ok(!families.has(name));
    assert.ok(!families.has('kubeproxy_iptables_localhost_nodeports_accepted_packets_total'));
    packets = 10;
    assert.equal((await reader(metrics))(name), 10);
  });

  test('METRICS-3 the process, the build, features and requests to the API server', async () => {
    const metrics = create();
    everythingHappens(metrics);
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

  test('METRICS-4 our own: what became of service ports, repairs, batches, watches, configuration, health', async () => {
    const clock = new ManualClock(1_000_000);
    const metrics = create('nftables', clock);
    everythingHappens(metrics);
    metrics.watchHeard('services');
    await clock.advance(12_500);
    const value = await reader(metrics);
    const family = { ip_family: 'IPv4' };
    assert.equal(value('pointsman_service_ports', { ...family, status: 'programmed' }), 12);
    assert.equal(value('pointsman_service_ports', { ...family, status: 'set_aside' }), 2);
    assert.equal(value('pointsman_service_ports_set_aside_total', { ...family, reason: 'EEXIST' }), 1);
    assert.equal(value('pointsman_service_ports_set_aside_total', { ...family, reason: 'other' }), 1);
    assert.equal(value('pointsman_drift_repairs_total', family), 1);
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

  /** Names of all samples that there can be, with the labels that they have. */
  async function everyName(): Promise<ReadonlyMap<string, readonly string[]>> {
    const names = new Map<string, readonly string[]>();
    for (const mode of [...Object.keys(MODES), 'userspace']) {
      const metrics = create(mode);
      everythingHappens(metrics);
      const samples = [...parsePrometheusText(await metrics.text()).values()].flatMap(family => family.samples);
      for (const { name, labels } of samples) names.set(name, Object.keys(labels));
    }
    return names;
  }

  test('METRICS-4 alert rules and dashboard ask for metrics that exist', async () => {
    const names = await everyName();
    for (const file of ['alerts.yaml', 'dashboard.json']) {
      const text = readFileSync(`deploy/monitoring/${file}`, 'utf8');
      const asked = text.match(/\b(kubeproxy|pointsman|rest_client|process|nodejs)_\w+/g) ?? [];
      assert.ok(asked.length > 5, file);
      assert.deepEqual(
        asked.filter(name => !names.has(name)),
        [],
        file,
      );
    }
  });

  test('METRICS-4 the dashboard shows all traffic that is measured, by labels that there are', async () => {
    const names = await everyName();
    const text = readFileSync('deploy/monitoring/dashboard.json', 'utf8');
    const grouped = [...text.matchAll(/by \(([\w, ]+)\) \((?:rate\()?(pointsman_\w+)/g)];
    const labelsAskedFor = new Map(grouped.map(([, labels = '', name = '']) => [name, labels.split(', ')]));
    const traffic = [...names.keys()].filter(name => /^pointsman_(service_connections|ipvs|userspace)_/.test(name));
    assert.ok(traffic.length > 10);
    for (const name of traffic) {
      const labels = ['instance', ...(names.get(name) ?? [])];
      const asked = labelsAskedFor.get(name);
      assert.ok(asked, `${name} is not shown`);
      assert.deepEqual(
        asked.filter(label => !labels.includes(label)),
        [],
        name,
      );
    }
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

const TRAFFIC = { connections: 1n, inPackets: 2n, outPackets: 3n, inBytes: 4n, outBytes: 5n };

const SERVERS: ServerStatistics = {
  virtualServers: 1,
  others: [],
  servicePorts: [
    {
      id: 'a',
      family: 'IPv4',
      servicePort: 'ns/a:p',
      protocol: 'TCP',
      ...TRAFFIC,
      realServers: [{ address: '10.0.0.1:80', weight: 1, activeConnections: 1, inactiveConnections: 0, ...TRAFFIC }],
    },
  ],
};

const SERVICE: ServiceCounters = {
  family: 'IPv4',
  servicePort: 'ns/a:p',
  protocol: 'TCP',
  connections: 1,
  active: 1,
  bytesIn: 1,
  bytesOut: 1,
  dialFailures: 1,
  failures: 1,
};

/** One of everything that can be told, for each family. */
function everythingHappens(metrics: ProxyMetrics): void {
  for (const family of FAMILIES) {
    metrics.syncQueued(family);
    metrics.syncFinished(family, 0.1, { full: true, success: true });
    metrics.syncFinished(family, 0.1, { full: false, success: false });
    metrics.networkProgramming(family, 1.5);
    metrics.noLocalEndpoints(family, 'internal', 1);
    metrics.noLocalEndpoints(family, 'external', 0);
    metrics.conntrackReconciled(family, 0.01, 0);
    metrics.measured(family, { kind: 'batch', objects: 1000, milliseconds: 20 });
    metrics.measured(family, { kind: 'refused', partial: true });
    metrics.measured(family, { kind: 'cleanup-failed' });
    metrics.measured(family, { kind: 'rules', table: 'nat', total: 10, last: 2 });
    metrics.measured(family, { kind: 'rules', table: 'filter', total: 10, last: 2 });
    metrics.servicePorts(family, { programmed: 12, setAside: 2 });
    metrics.setAside({ family, servicePort: 'ns/a:p', error: 'add element: EEXIST (ip kube-proxy services)' });
    metrics.setAside({ family, servicePort: 'ns/b:p', error: 'no idea' });
    metrics.driftRepaired(family);
  }
  metrics.changes({ endpointSlices: 1, services: 1, pendingEndpoints: 1, pendingServices: 1 });
  metrics.healthz(200);
  metrics.healthz(503);
  metrics.livez(200);
  metrics.readPackets('invalid-dropped', () => 1);
  metrics.readPackets('localhost-nodeports-accepted', () => 2);
  metrics.readHealth(() => false);
  metrics.readConnections(async function* () {
    yield { family: 'IPv4', servicePort: 'ns/a:p', connections: 1 };
  });
  metrics.readServers(async () => SERVERS);
  metrics.readServices(() => [SERVICE]);
  metrics.watchHeard('nodes');
  metrics.configurationRefused();
  const api = { verb: 'GET', host: 'api:6443' };
  metrics.restObserved({ kind: 'attempt', ...api, code: '<error>', retry: false });
  metrics.restObserved({ kind: 'attempt', ...api, code: '200', retry: true });
  metrics.restObserved({
    kind: 'request',
    ...api,
    code: '200',
    milliseconds: 100,
    requestBytes: 0,
    responseBytes: 5000,
  });
  metrics.restObserved({ kind: 'rate-limited', ...api, milliseconds: 200 });
}

function labelsOf({ samples }: MetricFamily): string {
  const names = new Set(samples.flatMap(({ labels }) => Object.keys(labels)));
  names.delete('le');
  return [...names].sort().join(',');
}

function boundsOf(families: ReadonlyMap<string, MetricFamily>, name: string): number[] {
  const buckets = families.get(name)?.samples.filter(({ labels }) => labels.ip_family === 'IPv4') ?? [];
  return buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
}

async function reader(metrics: ProxyMetrics) {
  const samples = [...parsePrometheusText(await metrics.text()).values()].flatMap(family => family.samples);
  const key = (labels: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(labels).sort());
  return (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
    samples.find(sample => sample.name === name && key(sample.labels) === key(labels))?.value;
}
