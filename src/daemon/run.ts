import { hostname } from 'node:os';
import { EventRecorder } from '../events/index.ts';
import { Checks, ProxyHealth } from '../health/index.ts';
import { systemClock } from '../lib/clock.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { errorText } from '../lib/error-text.ts';
import type { ProxyMetrics } from '../metrics/index.ts';
import type { Family } from '../net/index.ts';
import { createProxy, type RunningProxy } from '../proxy/index.ts';
import type { Closers } from './closers.ts';
import { ConfigurationReload } from './configuration-reload.ts';
import type { Ending } from './ending.ts';
import { eventsOf } from './events.ts';
import { proxyListeners } from './listeners.ts';
import { liveConfig } from './live-config.ts';
import { tellCounts } from './metrics.ts';
import { proxyMode } from './mode-support.ts';
import { followNode } from './node-handlers.ts';
import type { Objects } from './objects.ts';
import { setOwnOomScore } from './oom-score.ts';
import type { DaemonOptions } from './options.ts';
import { showPacketCounters } from './packet-counters.ts';
import { startServers } from './servers.ts';
import { ServiceHealthPorts } from './service-health-ports.ts';
import { TidyAfterStart } from './tidy-memory.ts';

/** What a start has found out and opened so far. */
export interface RunParts {
  readonly options: DaemonOptions;
  readonly closers: Closers;
  readonly ending: Ending;
  readonly metrics: ProxyMetrics;
  readonly objects: Objects;
  readonly nodeName: string;
  readonly families: readonly Family[];
}

/** Starts the proxy and all around it; resolves when its objects begin to come. */
export async function run(parts: RunParts): Promise<void> {
  const { options, closers, ending, metrics, objects, nodeName, families } = parts;
  const { configuration, gates, log } = options;
  const checks = new Checks();
  const health = new ProxyHealth({
    families,
    timeoutMs: 2 * toMilliseconds(configuration.syncPeriod),
    clock: systemClock,
  });
  if (proxyMode(configuration) === 'iptables') showPacketCounters(metrics, closers, log);
  const tidy = new TidyAfterStart(families);
  closers.add('memory', () => tidy.close());
  const recorder = openRecorder(parts);
  const events = eventsOf(nodeName);
  const proxy: RunningProxy = createProxy(
    {
      nodeName,
      families,
      live: liveConfig(configuration, gates),
      mode: proxyMode(configuration),
      iptables: { localhostNodePorts: configuration.iptables.localhostNodePorts },
    },
    proxyListeners({
      mode: configuration.mode,
      log,
      health,
      metrics,
      synced: family => {
        healthPorts.sync(family);
        tidy.synced(family);
      },
      setAside: port => recorder.record(events.setAside(objects.serviceReference(port.servicePort), port)),
      driftRepaired: (family, what) => recorder.record(events.driftRepaired(family, what)),
    }),
  );
  closers.add('proxy', () => proxy.close());
  tellCounts(metrics, proxy, health);
  const healthPorts = new ServiceHealthPorts({
    proxy,
    healthy: () => health.healthy,
    failed: failure => recorder.record(events.healthPortFailed(objects.serviceReference(failure.service), failure)),
  });
  closers.add('service health ports', () => healthPorts.close());
  const servers = await startServers({
    options,
    health,
    checks,
    metrics,
    failed(server, error) {
      recorder.record(events.serverFailed(server, errorText(error)));
      ending.fail(error);
    },
  });
  for (const server of servers) closers.add('server', () => server.close());
  followConfiguration(parts, proxy, checks);
  objects.addChecks(checks);
  closers.add('objects', () => objects.source.close());
  await objects.source.start(followNode(parts, proxy.loop, health));
  recorder.record(events.birth());
}

function openRecorder({ options, objects, closers }: RunParts): EventRecorder {
  const recorder = new EventRecorder({
    reporter: { controller: 'kube-proxy', instance: `kube-proxy-${hostname()}` },
    clock: systemClock,
    lost: ({ reason, regarding }, why) =>
      options.log.v(2, 'events', 'An event was not written', { reason, regarding: regarding.name, why }),
  });
  if (objects.client) recorder.attach(objects.client);
  closers.add('events', () => recorder.close());
  return recorder;
}

function followConfiguration(
  { options, metrics, ending, closers }: RunParts,
  proxy: RunningProxy,
  checks: Checks,
): void {
  if (options.configFile === '') return;
  const reload = new ConfigurationReload({
    options,
    metrics,
    apply(next) {
      options.logControl.setVerbosity(next.logging.verbosity);
      options.logControl.setVModule(next.logging.vmodule);
      setOwnOomScore(next.linux.oomScoreAdj, options.log);
      proxy.configure(liveConfig(next, options.gates));
    },
    restart: reason => ending.fail(reason),
  });
  checks.add('configuration', () => reload.refused);
  closers.add('configuration', () => reload.close());
}
