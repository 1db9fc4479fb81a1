import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSet } from '../../observe/metrics/index.ts';
import { ipvsMetrics } from './metrics.ts';

test('METRICS-2 a refused write counts as a failed restore, as upstream counts it', async () => {
  const set = new MetricSet();
  const observe = ipvsMetrics(set);
  observe('IPv6', { kind: 'refused', full: false });
  observe('IPv6', { kind: 'cleanup-failed' });
  const name = 'kubeproxy_sync_proxy_rules_iptables_restore_failures_total';
  const text = await set.text();
  assert.ok(text.includes(`# HELP ${name} [ALPHA] Cumulative proxy iptables restore failures\n`));
  assert.ok(text.includes(`${name}{ip_family="IPv6"} 1\n`));
});
