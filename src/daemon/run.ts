import type { SetAside } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { createProxy, type RunningProxy } from '../proxy/index.ts';
import type { OnConfigurationChange } from './configuration-reload.ts';
import { ipvsConfig } from './ipvs.ts';
import { proxyListeners } from './listeners.ts';
import { liveConfig } from './live-config.ts';
import { StartMemoryRelease } from './memory.ts';
import { tellConnections, tellCounts, tellServers, tellServices } from './metrics.ts';
import { proxyMode } from './mode-support.ts';
import type { Objects } from './objects.ts';
import type { Observability } from './observability.ts';
import type { DaemonOptions } from './options.ts';
import { showPacketCounters } from '../modes/iptables/packet-metrics.ts';
import { ServiceHealthPorts } from './service-health-ports.ts';
import type { OpenResources, Shutdown } from './shutdown.ts';
import { sourceHandlers } from './source-handlers.ts';
import { userspaceConfig } from './userspace.ts';

/** What a start has found out and opened so far. */
export interface RunParts {
  readonly options: DaemonOptions;
  readonly resources: OpenResources;
  readonly shutdown: Shutdown;
  readonly observability: Observability;
  readonly objects: Objects;
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly onConfigurationChange: OnConfigurationChange;
}

/** Named in the log as every kube-proxy names them. */
const FOLLOWED = ['service', 'endpoint slice', 'serviceCIDR', 'node'];

/** Starts the proxy; resolves when its objects begin to come. */
export async function run(parts: RunParts): Promise<void> {
  const { objects, observability, families } = parts;
  const { health, metrics, checks, recorder, events } = observability;
  health.started(families);
  const proxy = openProxy(parts);
  tellCounts(metrics, proxy);
  tellServers(metrics, proxy);
  tellServices(metrics, proxy);
  if (parts.options.countConnections) tellConnections(metrics, proxy);
  checks.add('set aside', () => setAsideNote(proxy.mode.setAside()));
  parts.onConfigurationChange(next => proxy.configure(liveConfig(next, parts.options.gates)));
  if (parts.options.manifests === undefined)
    for (const what of FOLLOWED) parts.options.log.info('config', `Starting ${what} config controller`);
  await objects.source.start(sourceHandlers(parts, proxy.loop, health));
  recorder.record(events.birth());
  if (parts.options.configuration.mode === 'ipvs') recorder.record(events.ipvsDeprecated());
}

function openProxy(parts: RunParts): RunningProxy {
  const { options, resources, observability, objects, nodeName, families } = parts;
  const { health, metrics, checks, recorder, events } = observability;
  const { configuration, gates, log } = options;
  if (proxyMode(configuration) === 'iptables') showPacketCounters(metrics, resources, log);
  const tidy = new StartMemoryRelease(families);
  resources.add('memory', () => tidy.close());
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
  resources.add('proxy', () => proxy.close());
  checks.add('drift', () => (repairs > 0 ? { note: `repaired ${repairs} times since the start` } : undefined));
  const healthPorts = openHealthPorts(parts, proxy);
  resources.add('service health ports', () => healthPorts.close());
  return proxy;
}

function openHealthPorts({ options, observability, objects, nodeName }: RunParts, proxy: RunningProxy) {
  const { health, recorder, events } = observability;
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
