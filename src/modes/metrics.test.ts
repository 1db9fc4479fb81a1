import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import Counter from 'prom-client/lib/counter.js';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMetrics, measureEverything, reader } from '../../test/support/metrics.ts';
import { type MetricFamily, parsePrometheusText } from '../../test/support/prometheus-text.ts';
import { FAMILIES } from '../net/index.ts';
import { MetricSet } from '../observe/metrics/index.ts';
import { ebpfMetrics } from './ebpf/metrics.ts';
import { iptablesMetrics, packetMetrics } from './iptables/metrics.ts';
import { ipvsMetrics } from './ipvs/metrics.ts';
import { registerServers } from './ipvs/statistics/server-metrics.ts';
import { registerServing } from './layered-mode.ts';
import type { Measure, MeasureObserver } from './mode.ts';
import { nftablesMetrics } from './nftables/metrics.ts';
import { MODES } from './registry.ts';
import { registerTraffic, TrafficReader } from './traffic/index.ts';
import { userspaceMetrics } from './userspace/metrics.ts';

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

const TRAFFIC = { connections: 1n, inPackets: 2n, outPackets: 3n, inBytes: 4n, outBytes: 5n };
const SERVICE = { service: 'ns/a', port: 'p', protocol: 'TCP', family: 'IPv4' } as const;

/** What each mode registers, with a letter for the table above. */
const REGISTER: Readonly<Record<string, { letter: string; register(set: MetricSet): MeasureObserver }>> = {
  iptables: {
    letter: 'I',
    register(set) {
      packetMetrics(set, { packets: () => 1 });
      return iptablesMetrics(set);
    },
  },
  ipvs: {
    letter: 'V',
    register(set) {
      const realServers = [
        { address: '10.0.0.1:80', weight: 1, activeConnections: 1, inactiveConnections: 0, ...TRAFFIC },
      ];
      const servicePorts = [{ id: 'a', ...SERVICE, ...TRAFFIC, realServers }];
      registerServers(set, new ManualClock(), async () => ({ virtualServers: 1, others: [], servicePorts }));
      return ipvsMetrics(set);
    },
  },
  ebpf: {
    letter: 'N',
    register(set) {
      const usage = [{ map: 'frontends4', used: 1, capacity: 2 }];
      ebpfMetrics(set, { generations: 1, usage: () => usage });
      registerServing(set, () => ({ name: 'sockets', isServing: true, note: '' }));
      return REGISTER.nftables?.register(set) ?? assert.fail('nftables is missing in this test');
    },
  },
  nftables: {
    letter: 'N',
    register(set) {
      const figures = { connections: 1, active: 1, packets: 1, bytes: 1 };
      const endpoints = new Map([['10.0.0.1:80', figures]]);
      const traffic = async () => [{ ...SERVICE, ...figures, rejected: 1, dropped: 1, endpoints }];
      registerTraffic(set, new TrafficReader({ traffic }, new ManualClock()));
      return nftablesMetrics(set);
    },
  },
  userspace: {
    letter: 'U',
    register(set) {
      const counts = { connections: 1, active: 1, bytesIn: 1, bytesOut: 1, dialFailures: 1, failures: 1 };
      return userspaceMetrics(set, () => [{ ...SERVICE, ...counts }]);
    },
  },
};

const MEASURES: readonly Measure[] = [
  { kind: 'refused', full: false },
  { kind: 'refused', full: true },
  { kind: 'cleanup-failed' },
  { kind: 'rules', table: 'nat', total: 101, last: 7 },
  { kind: 'rules', table: 'filter', total: 10, last: 2 },
];

/** All metrics of a proxy in the mode, each with a sample. */
async function metricsOf(mode: string): Promise<ReadonlyMap<string, MetricFamily>> {
  const descriptor = MODES.find(({ name }) => name === mode);
  const metrics = createMetrics(descriptor?.hasPartialSyncMetrics ?? false, new ManualClock());
  try {
    measureEverything(metrics);
    const observe = REGISTER[mode]?.register(metrics.set) ?? assert.fail(`${mode} is missing in this test`);
    for (const family of FAMILIES) for (const measure of MEASURES) observe(family, measure);
    return parsePrometheusText(await metrics.text());
  } finally {
    metrics.close();
  }
}

/** Counters whose labels nothing knows in advance: those of requests, and of the traffic of each service port. */
function hasOpenLabels(name: string, labels: readonly string[]): boolean {
  return name.startsWith('rest_client_') || labels.includes('service');
}

/** prom-client has these fields, and does not declare them. */
function isCounter(metric: object): metric is { readonly name: string; readonly labelNames: readonly string[] } {
  return metric instanceof Counter && 'labelNames' in metric;
}

describe('metrics of modes', () => {
  for (const { name: mode, hasPartialSyncMetrics } of MODES) {
    for (const order of ['before', 'after'] as const) {
      test(`METRICS-24 in ${mode} mode every counter begins with 0, also if the families are known ${order} it registers`, async () => {
        const metrics = createMetrics(hasPartialSyncMetrics ?? false, new ManualClock());
        try {
          if (order === 'before') metrics.set.setFamilies(FAMILIES);
          REGISTER[mode]?.register(metrics.set);
          if (order === 'after') metrics.set.setFamilies(FAMILIES);
          const families = parsePrometheusText(await metrics.text());
          const all: readonly object[] = metrics.set.registry.getMetricsAsArray();
          const counters = all.filter(isCounter);
          assert.ok(counters.length > 10);
          for (const { name, labelNames } of counters) {
            if (hasOpenLabels(name, labelNames)) continue;
            const samples = families.get(name)?.samples ?? [];
            assert.ok(samples.length > 0, `${name} has no sample`);
            if (!labelNames.includes('ip_family')) continue;
            for (const family of FAMILIES)
              assert.ok(
                samples.some(({ labels, value }) => labels.ip_family === family && value === 0),
                `${name} of ${family}`,
              );
          }
        } finally {
          metrics.close();
        }
      });
    }
  }

  for (const { name: mode } of MODES.filter(({ name }) => name !== 'userspace')) {
    test(`METRICS-1 ${mode} mode has upstream's metrics: names, types, labels and help, no more and no fewer`, async () => {
      const own = [...(await metricsOf(mode)).values()].filter(({ name }) => name.startsWith('kubeproxy_'));
      assert.deepEqual(
        own.map(family => ({ name: family.name, type: family.type, labels: labelsOf(family), help: family.help })),
        upstream
          .filter(({ modes }) => modes.includes(REGISTER[mode]?.letter ?? '?'))
          .map(({ modes: _, ...rest }) => rest)
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    });
  }

  test('METRICS-2 what a mode measures goes to the metrics of that mode', async () => {
    const read = async (mode: string) => {
      const set = new MetricSet();
      const observe = REGISTER[mode]?.register(set) ?? assert.fail(mode);
      for (const measure of MEASURES) observe('IPv4', measure);
      return [...parsePrometheusText(await set.text()).values()]
        .filter(({ name }) => name.startsWith('kubeproxy_sync'))
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

  test('METRICS-2 packets are read at each scrape, and a counter that cannot be read is left out', async () => {
    const metrics = createMetrics(true, new ManualClock());
    let packets = 3;
    packetMetrics(metrics.set, {
      packets(counter) {
        if (counter === 'localhost_nps_accepted_pkts' || packets < 0) throw new Error('gone');
        return packets;
      },
    });
    const name = 'kubeproxy_iptables_ct_state_invalid_dropped_packets_total';
    try {
      assert.equal((await reader(metrics))(name), 3);
      packets = 9;
      assert.equal((await reader(metrics))(name), 9);
      packets = -1;
      const families = parsePrometheusText(await metrics.text());
      assert.ok(!families.has(name));
      assert.ok(!families.has('kubeproxy_iptables_localhost_nodeports_accepted_packets_total'));
      packets = 10;
      assert.equal((await reader(metrics))(name), 10);
    } finally {
      metrics.close();
    }
  });

  /** The names of all samples of all modes, with their labels. */
  async function everyName(): Promise<ReadonlyMap<string, readonly string[]>> {
    const names = new Map<string, readonly string[]>();
    for (const { name: mode } of MODES) {
      const samples = [...(await metricsOf(mode)).values()].flatMap(family => family.samples);
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

  test('METRICS-4 the dashboard shows all traffic metrics, by labels that they have', async () => {
    const names = await everyName();
    const text = readFileSync('deploy/monitoring/dashboard.json', 'utf8');
    const grouped = [...text.matchAll(/by \(([\w, ]+)\) \((?:rate\()?(pointsman_\w+)/g)];
    const labelsAskedFor = new Map(grouped.map(([, labels = '', name = '']) => [name, labels.split(', ')]));
    const traffic = [...names.keys()].filter(name => /^pointsman_(service_(?!ports)|ipvs_|userspace_)/.test(name));
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
});

function labelsOf({ samples }: MetricFamily): string {
  const names = new Set(samples.flatMap(({ labels }) => Object.keys(labels)));
  names.delete('le');
  return [...names].sort().join(',');
}
