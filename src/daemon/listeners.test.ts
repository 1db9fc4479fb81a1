import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service, slice } from '../../test/support/objects.ts';
import { parsePrometheusText } from '../../test/support/prometheus-text.ts';
import { History } from '../history/index.ts';
import { Model } from '../model/index.ts';
import type { SetAside } from '../modes/index.ts';
import { Checks, ProxyHealth } from '../observe/health/index.ts';
import { ProxyMetrics } from '../observe/metrics/index.ts';
import { type EndedEndpoint, endedEndpoints } from '../plan/index.ts';
import { NO_VERSIONS, ProgrammedVersions, type ProxyListeners } from '../proxy/index.ts';
import { InputProblems } from './input-problems.ts';
import { proxyListeners } from './listeners.ts';
import { buildInfo } from './version-info.ts';

function goneEndpoint(): EndedEndpoint {
  const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
  const annotations = { 'pointsman.dev/endpoint-end': 'reset' };
  model.setService(service('shop/web', { annotations, ports: [{ name: 'http' }] }));
  model.setEndpointSlice(slice('shop/web-1', ['10.0.0.1'], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }));
  model.take();
  model.deleteEndpointSlice('shop/web-1');
  const [ended] = model.take().services.flatMap(change => endedEndpoints(change));
  return ended ?? assert.fail('no endpoint is gone');
}
const GONE = goneEndpoint();

describe('reports of the proxy', () => {
  let metrics: ProxyMetrics;
  let listeners: ProxyListeners;
  let lines: string[];
  let setAside: SetAside[];
  let unavailable: [service: string, reason: string][];
  let ejections: unknown[];
  let notEnded: [service: string, reason: string][];
  let history: History;

  beforeEach(() => {
    const clock = new ManualClock();
    const health = new ProxyHealth({ timeoutMs: 60_000, clock });
    metrics = new ProxyMetrics({ hasPartialSyncMetrics: true, clock, build: buildInfo('v1.36.4'), features: [] });
    const remembering = rememberingLog();
    const { log } = remembering;
    lines = remembering.lines;
    setAside = [];
    unavailable = [];
    notEnded = [];
    ejections = [];
    history = new History(clock);
    const ignore = () => {};
    listeners = proxyListeners({
      mode: 'iptables',
      log,
      health,
      metrics,
      input: new InputProblems(log, metrics, new Checks()),
      history,
      programmed: new ProgrammedVersions(() => NO_VERSIONS),
      syncEnded: ignore,
      synced: ignore,
      node: () => ({ name: 'node-a', zone: 'zone-a' }),
      balanceUnavailable: (service, reason) => unavailable.push([service, reason]),
      connectionsNotEnded: (service, reason) => notEnded.push([service, reason]),
      ejectionChanged: report => ejections.push(report),
      setAside: port => setAside.push(port),
      conditionChanged: () => {},
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

  test('HISTORY-7 the history has failed syncs, repairs with their cause, and refusals', () => {
    listeners.loop.syncFailed('IPv4', { full: true, error: new Error('no luck'), milliseconds: 5 });
    listeners.mode.driftRepaired('IPv6', { cause: 'another program deleted a rule', written: '1 rule' });
    const cause = { code: 'UNSUPPORTED', message: 'no SCTP' } as const;
    const port = { family: 'IPv4', namespace: 'shop', name: 'web', port: 'http', protocol: 'SCTP', cause } as const;
    listeners.mode.setAside(port);
    listeners.loop.synced('IPv4', { full: true, servicePorts: 0, milliseconds: 5, triggerTimes: new Map() });
    assert.deepEqual(
      history.entries().map(({ kind, family, service, change, cause }) => [kind, family, service, change, cause]),
      [
        ['syncFailed', 'IPv4', '', 'no luck', ''],
        ['repair', 'IPv6', '', '1 rule', 'another program deleted a rule'],
        ['setAside', 'IPv4', 'shop/web', 'shop/web:http/SCTP is not programmed: no SCTP', ''],
        ['sync', 'IPv4', '', 'succeeded after 1 failed attempt', ''],
      ],
    );
  });

  test('BALANCE-3 what a mode cannot do becomes an Event of the Service', () => {
    listeners.loop.balanceUnavailable?.('shop/web', 'weighted is not available');
    assert.deepEqual(unavailable, [['shop/web', 'weighted is not available']]);
  });

  test('ENDING-9 ended connections are logged, counted and in the history, and what is missing is logged once', async () => {
    const ended = new Map([[GONE, { connections: 3, sockets: 2 }]]);
    const problem = 'the process sees no network namespaces of pods';
    listeners.connectionsEnded?.('IPv4', { ended, problem }, 5);
    listeners.connectionsEnded?.('IPv4', { ended: new Map(), problem }, 5);
    const [line = '', warning = '', ...rest] = lines;
    assert.match(line, /Ended the connections of an endpoint that is gone.*shop\/web:http.*10\.0\.0\.1:8080/);
    assert.match(warning, /the process sees no network namespaces of pods/);
    assert.deepEqual(rest, []);
    assert.match(await metrics.text(), /pointsman_ended_connections_total\{ip_family="IPv4"\} 3/);
    assert.deepEqual(
      history.entries().map(({ kind, service, change }) => [kind, service, change]),
      [['ended', 'shop/web', 'ended 3 connections of 10.0.0.1:8080, which is gone']],
    );
  });

  test('BALANCE-74 an ejection is logged, counted, in the history and an Event, and so is the return', async () => {
    const report = { family: 'IPv4', service: 'shop/web', port: 'http', endpoint: '10.0.0.1:8080' } as const;
    const ejected = { ...report, leftOut: { cause: 'refused', failures: 3, seconds: 20 } } as const;
    const returned = { ...report, leftOut: undefined };
    listeners.ejectionChanged?.(ejected);
    listeners.ejectionChanged?.(returned);
    const [line = '', again = ''] = lines;
    assert.match(line, /left out.*shop\/web:http.*10\.0\.0\.1:8080.*refused.*3.*20/);
    assert.match(again, /used again.*10\.0\.0\.1:8080/);
    assert.deepEqual(ejections, [ejected, returned]);
    listeners.connectionEventsLost?.();
    const text = await metrics.text();
    assert.match(text, /pointsman_endpoint_ejections_total\{ip_family="IPv4"\} 1/);
    assert.match(text, /pointsman_connection_event_losses_total 1/);
  });

  test('ENDING-9 connections that the kernel did not end become an Event of each Service', () => {
    listeners.connectionsNotEnded?.('IPv4', [GONE, GONE], new Error('no luck'));
    assert.deepEqual(notEnded, [['shop/web', 'no luck']]);
    assert.match(lines.join(), /Could not end the connections of endpoints that are gone.*no luck/);
  });

  for (const full of [true, false]) {
    test(`METRICS-2 a failed ${full ? 'full' : 'partial'} sync counts as such`, async () => {
      listeners.loop.syncStarted('IPv4');
      listeners.loop.syncFailed('IPv4', { full, error: new Error('no luck'), milliseconds: 5 });
      assert.deepEqual(await counts(), { all: 1, full: full ? 1 : 0, partial: full ? 0 : 1 });
      assert.deepEqual(lines, [
        `E Sync failed; the proxy will retry it {"err":"no luck","ipFamily":"IPv4","full":${full}}`,
      ]);
    });
  }

  test('LOG-9 the log line of a sync has the number of changed service ports, which may be none', () => {
    listeners.loop.synced('IPv4', { full: true, servicePorts: 0, milliseconds: 1.25, triggerTimes: new Map() });
    listeners.loop.synced('IPv6', { full: false, servicePorts: 2, milliseconds: 3, triggerTimes: new Map() });
    assert.deepEqual(lines, [
      'I Synced all service ports {"ipFamily":"IPv4","changedServicePorts":0,"took":"1.3ms"}',
      'I Synced the service ports that changed {"ipFamily":"IPv6","changedServicePorts":2,"took":"3.0ms"}',
    ]);
  });

  test('a failure of the mode is logged with its action, or with the line that upstream has for it', () => {
    const error = new Error('no luck');
    listeners.mode.failed({ family: 'IPv6', action: 'repair the IPv6 rules', error });
    listeners.mode.failed({ action: 'open packet counters', upstreamLine: 'Failed to create nfacct runner', error });
    assert.deepEqual(lines, [
      'E Could not repair the IPv6 rules {"err":"no luck","ipFamily":"IPv6"}',
      'E Failed to create nfacct runner {"err":"no luck"}',
    ]);
  });

  test('NFT-51 listeners that open and close are logged as upstream logs them', () => {
    listeners.mode.listener?.('IPv4', { kind: 'opened', protocol: 'TCP', port: 30_080, endpoints: 2 });
    listeners.mode.listener?.('IPv6', { kind: 'closed', protocol: 'UDP', port: 30_053 });
    assert.deepEqual(lines, [
      'I Created localhost nodeport proxy {"ipFamily":"IPv4","protocol":"TCP","port":30080,"endpoints":2}',
      'I Removing localhost nodeport proxy {"ipFamily":"IPv6","protocol":"UDP","port":30053}',
    ]);
  });

  test('EVENTS-7 MODE-8 a service port that is set aside is reported to the log, the metrics and the Events', async () => {
    const port = {
      family: 'IPv4',
      namespace: 'default',
      name: 'web',
      port: 'http',
      protocol: 'TCP',
      cause: { code: 'KERNEL_REFUSED', errno: 'ENOSPC', message: 'no room' },
    } as const;
    listeners.mode.setAside(port);
    assert.deepEqual(setAside, [port]);
    assert.deepEqual(lines, [
      'E Service port set aside until it changes; all others are programmed {"err":"no room","ipFamily":"IPv4","servicePort":"default/web:http","protocol":"TCP","code":"KERNEL_REFUSED"}',
    ]);
    assert.match(
      await metrics.text(),
      /^pointsman_service_ports_set_aside_total\{ip_family="IPv4",reason="ENOSPC"\} 1$/m,
    );
  });
});
