import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { parsePrometheusText } from '../../test/support/prometheus-text.ts';
import { ProxyHealth } from '../health/index.ts';
import { ProxyMetrics } from '../metrics/index.ts';
import type { ProxyListeners } from '../proxy/index.ts';
import { buildInfo } from './build-info.ts';
import { proxyListeners } from './listeners.ts';

describe('those who are told of syncs', () => {
  let metrics: ProxyMetrics;
  let listeners: ProxyListeners;

  beforeEach(() => {
    const clock = new ManualClock();
    const health = new ProxyHealth({ timeoutMs: 60_000, clock });
    metrics = new ProxyMetrics({ mode: 'iptables', clock, build: buildInfo('v1.36.4'), features: [] });
    const { log } = rememberingLog();
    const ignore = () => {};
    listeners = proxyListeners({
      mode: 'iptables',
      log,
      health,
      metrics,
      synced: ignore,
      setAside: ignore,
      driftRepaired: ignore,
    });
  });
  afterEach(() => metrics.close());

  async function counts(): Promise<{ all: number; full: number; partial: number }> {
    const families = parsePrometheusText(await metrics.text());
    const count = (part: string) => {
      const name = `kubeproxy_sync_${part}proxy_rules_duration_seconds`;
      return families.get(name)?.samples.find(sample => sample.name === `${name}_count`)?.value ?? 0;
    };
    return { all: count(''), full: count('full_'), partial: count('partial_') };
  }

  function fail(...refusals: readonly { readonly partial: boolean }[]): void {
    listeners.loop.syncStarted('IPv4');
    for (const { partial } of refusals) listeners.mode.measured('IPv4', { kind: 'refused', partial });
    listeners.loop.syncFailed('IPv4', new Error('no luck'), 5);
  }

  test('METRICS-2 a sync that failed counts as what it was: partial if only changes were refused', async () => {
    fail({ partial: true });
    assert.deepEqual(await counts(), { all: 1, full: 0, partial: 1 });
  });

  test('METRICS-2 one that went on to write everything is a full one', async () => {
    fail({ partial: true }, { partial: false });
    assert.deepEqual(await counts(), { all: 1, full: 1, partial: 0 });
  });

  test('METRICS-2 one that failed before there was anything to refuse was a full one, whatever the last was', async () => {
    fail({ partial: true });
    fail();
    assert.deepEqual(await counts(), { all: 2, full: 1, partial: 1 });
  });

  test('METRICS-2 what one family was refused says nothing of the other', async () => {
    listeners.loop.syncStarted('IPv4');
    listeners.mode.measured('IPv6', { kind: 'refused', partial: true });
    listeners.loop.syncFailed('IPv4', new Error('no luck'), 5);
    assert.deepEqual(await counts(), { all: 1, full: 1, partial: 0 });
  });
});
