import type { SetAside } from '../modes/index.ts';
import { type Family, parseIp } from '../net/index.ts';
import { createProxy, type RunningProxy } from '../proxy/index.ts';
import type { Closers } from './closers.ts';
import { ConfigurationReload } from './configuration-reload.ts';
import type { Ending } from './ending.ts';
import { proxyListeners } from './listeners.ts';
import { liveConfig } from './live-config.ts';
import { tellCounts } from './metrics.ts';
import { proxyMode } from './mode-support.ts';
import { followNode } from './node-handlers.ts';
import type { Objects } from './objects.ts';
import { setOwnOomScore } from './oom-score.ts';
import type { DaemonOptions } from './options.ts';
import { showPacketCounters } from './packet-counters.ts';
import { ServiceHealthPorts } from './service-health-ports.ts';
import type { Surroundings } from './surroundings.ts';
import { TidyAfterStart } from './tidy-memory.ts';

/** What a start has found out and opened so far. */
export interface RunParts {
  readonly options: DaemonOptions;
  readonly closers: Closers;
  readonly ending: Ending;
  readonly surroundings: Surroundings;
  readonly objects: Objects;
  readonly nodeName: string;
  readonly families: readonly Family[];
}

/** Starts the proxy; resolves when its objects begin to come. */
export async function run(parts: RunParts): Promise<void> {
  const { closers, objects, surroundings, families } = parts;
  const { health, metrics, checks, recorder, events } = surroundings;
  health.started(families);
  const proxy = openProxy(parts);
  tellCounts(metrics, proxy, health);
  checks.add('set aside', () => setAsideNote(proxy.mode.setAside()));
  followConfiguration(parts, proxy);
  closers.add('objects', () => objects.source.close());
  await objects.source.start(followNode(parts, proxy.loop, health));
  recorder.record(events.birth());
}

function openProxy({ options, closers, surroundings, objects, nodeName, families }: RunParts): RunningProxy {
  const { health, metrics, checks, recorder, events } = surroundings;
  const { configuration, gates, log } = options;
  if (proxyMode(configuration) === 'iptables') showPacketCounters(metrics, closers, log);
  const tidy = new TidyAfterStart(families);
  closers.add('memory', () => tidy.close());
  let repairs = 0;
  const proxy: RunningProxy = createProxy(
    {
      nodeName,
      families,
      live: liveConfig(configuration, gates),
      mode: proxyMode(configuration),
      iptables: { localhostNodePorts: configuration.iptables.localhostNodePorts },
      userspace: { listenIP: parseIp(configuration.bindAddress) },
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
      driftRepaired: (family, what) => {
        repairs++;
        recorder.record(events.driftRepaired(family, what));
      },
    }),
  );
  closers.add('proxy', () => proxy.close());
  checks.add('drift', () => (repairs > 0 ? { note: `repaired ${repairs} times since the start` } : undefined));
  const healthPorts = new ServiceHealthPorts({
    proxy,
    healthy: () => health.healthy,
    failed: failure => recorder.record(events.healthPortFailed(objects.serviceReference(failure.service), failure)),
  });
  closers.add('service health ports', () => healthPorts.close());
  return proxy;
}

const MOST_NAMED = 5;

/** The others are served, so it is no reason to be not ready. */
function setAsideNote(ports: readonly SetAside[]): { readonly note: string } | undefined {
  if (ports.length === 0) return undefined;
  const named = ports
    .slice(0, MOST_NAMED)
    .map(({ family, servicePort, error }) => `${servicePort} (${family}): ${error}`);
  return { note: `${ports.length} service ports that the kernel refused, among them ${named.join('; ')}` };
}

function followConfiguration({ options, surroundings, ending, closers }: RunParts, proxy: RunningProxy): void {
  const { metrics, checks } = surroundings;
  if (options.configFile === '') return;
  const reload = new ConfigurationReload({
    options,
    metrics,
    apply(next) {
      surroundings.configured(next);
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
