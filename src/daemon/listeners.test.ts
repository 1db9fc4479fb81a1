import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { parsePrometheusText } from '../../test/support/prometheus-text.ts';
import type { SetAside } from '../modes/index.ts';
import { ProxyHealth } from '../observe/health/index.ts';
import { ProxyMetrics } from '../observe/metrics/index.ts';
import type { ProxyListeners } from '../proxy/index.ts';
import { proxyListeners } from './listeners.ts';
import { buildInfo } from './version-info.ts';

describe('those who are told of syncs', () => {
  let metrics: ProxyMetrics;
  let listeners: ProxyListeners;
  let lines: string[];
  let setAside: SetAside[];

  beforeEach(() => {
    const clock = new ManualClock();
    const health = new ProxyHealth({ timeoutMs: 60_000, clock });
    metrics = new ProxyMetrics({ mode: 'iptables', clock, build: buildInfo('v1.36.4'), features: [] });
    const remembering = rememberingLog();
    const { log } = remembering;
    lines = remembering.lines;
    setAside = [];
    const ignore = () => {};
    listeners = proxyListeners({
      mode: 'iptables',
      log,
      health,
      metrics,
      synced: ignore,
      setAside: port => setAside.push(port),
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

  test('LOG-9 a sync says how many service ports changed, which may be none', () => {
    listeners.loop.synced('IPv4', { full: true, servicePorts: 0, milliseconds: 1.25, triggerTimes: [] });
    listeners.loop.synced('IPv6', { full: false, servicePorts: 2, milliseconds: 3, triggerTimes: [] });
    assert.deepEqual(lines, [
      'I Synced everything {"ipFamily":"IPv4","changedServicePorts":0,"took":"1.3ms"}',
      'I Synced {"ipFamily":"IPv6","changedServicePorts":2,"took":"3.0ms"}',
    ]);
  });

  test('EVENTS-7 a service port that is set aside is told to the log, the metrics and whoever writes Events', async () => {
    const port = { family: 'IPv4', servicePort: 'default/web:http', error: 'no room' } as const;
    listeners.mode.setAside(port);
    assert.deepEqual(setAside, [port]);
    assert.deepEqual(lines, [
      'E Could not be programmed; set aside until it changes {"err":"no room","ipFamily":"IPv4","servicePort":"default/web:http"}',
    ]);
    assert.match(await metrics.text(), /^pointsman_service_ports_set_aside_total\{.*\} 1$/m);
  });
});
