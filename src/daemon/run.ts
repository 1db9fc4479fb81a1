import type { SetAside } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { createProxy, type RunningProxy } from '../proxy/index.ts';
import type { Closers } from './closers.ts';
import type { Ending } from './ending.ts';
import type { FollowConfiguration } from './follow-configuration.ts';
import { ipvsConfig } from '../modes/ipvs/options.ts';
import { proxyListeners } from './listeners.ts';
import { liveConfig } from './live-config.ts';
import { tellConnections, tellCounts, tellServers, tellServices } from './metrics.ts';
import { proxyMode } from './mode-support.ts';
import { followNode } from './node-handlers.ts';
import type { Objects } from './objects.ts';
import type { DaemonOptions } from './options.ts';
import { showPacketCounters } from '../modes/iptables/packet-metrics.ts';
import { ServiceHealthPorts } from './service-health-ports.ts';
import type { Surroundings } from './surroundings.ts';
import { TidyAfterStart } from './tidy-memory.ts';
import { userspaceConfig } from '../modes/userspace/options.ts';

/** What a start has found out and opened so far. */
export interface RunParts {
  readonly options: DaemonOptions;
  readonly closers: Closers;
  readonly ending: Ending;
  readonly surroundings: Surroundings;
  readonly objects: Objects;
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly followConfiguration: FollowConfiguration;
}

/** Named in the log as every kube-proxy names them. */
const FOLLOWED = ['service', 'endpoint slice', 'serviceCIDR', 'node'];

/** Starts the proxy; resolves when its objects begin to come. */
export async function run(parts: RunParts): Promise<void> {
  const { objects, surroundings, families } = parts;
  const { health, metrics, checks, recorder, events } = surroundings;
  health.started(families);
  const proxy = openProxy(parts);
  tellCounts(metrics, proxy);
  tellServers(metrics, proxy);
  tellServices(metrics, proxy);
  if (parts.options.countConnections) tellConnections(metrics, proxy);
  checks.add('set aside', () => setAsideNote(proxy.mode.setAside()));
  parts.followConfiguration(next => proxy.configure(liveConfig(next, parts.options.gates)));
  if (parts.options.manifests === undefined)
    for (const what of FOLLOWED) parts.options.log.info('config', `Starting ${what} config controller`);
  await objects.source.start(followNode(parts, proxy.loop, health));
  recorder.record(events.birth());
  if (parts.options.configuration.mode === 'ipvs') recorder.record(events.ipvsDeprecated());
}

function openProxy(parts: RunParts): RunningProxy {
  const { options, closers, surroundings, objects, nodeName, families } = parts;
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
      countConnections: options.countConnections,
      iptables: { localhostNodePorts: configuration.iptables.localhostNodePorts },
      ipvs: ipvsConfig(configuration),
      userspace: userspaceConfig(configuration),
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
  const healthPorts = openHealthPorts(parts, proxy);
  closers.add('service health ports', () => healthPorts.close());
  return proxy;
}

function openHealthPorts({ options, surroundings, objects, nodeName }: RunParts, proxy: RunningProxy) {
  const { health, recorder, events } = surroundings;
  return new ServiceHealthPorts({
    proxy,
    healthy: () => health.healthy,
    failed(failure) {
      const { service, port, error: err } = failure;
      options.log.error('health', 'Failed to start healthcheck', { err, node: nodeName, service, port });
      recorder.record(events.healthPortFailed(objects.serviceReference(service), failure));
    },
  });
}

const MOST_NAMED = 5;

/** The others are served, so it is no reason to be not ready. */
function setAsideNote(ports: readonly SetAside[]): { readonly note: string } | undefined {
  if (ports.length === 0) return undefined;
  const named = ports
    .slice(0, MOST_NAMED)
    .map(({ family, servicePort, error }) => `${servicePort} (${family}): ${error}`);
  return { note: `${ports.length} service ports are set aside, among them ${named.join('; ')}` };
}
