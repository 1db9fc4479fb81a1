import { objectName } from '../api/index.ts';
import { conditionNote, RunRecord } from '../inspect/index.ts';
import { systemClock } from '../lib/clock.ts';
import {
  type ConfiguredMode,
  type Mode,
  registerTraffic,
  type SetAside,
  setAsideName,
  TrafficReader,
} from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { createProxy, type ProgrammedVersions, type RunningProxy, unavailableDefault } from '../proxy/index.ts';
import type { OnConfigurationChange } from './configuration-reload.ts';
import { openInspection } from './inspection.ts';
import { proxyListeners } from './listeners.ts';
import { liveConfig } from './live-config.ts';
import { StartMemoryRelease } from './memory.ts';
import { showProxyCounts } from './metrics.ts';
import { ConditionReport } from './mode-condition.ts';
import type { Objects } from './objects.ts';
import type { Observability } from './observability.ts';
import { openProgrammedReport } from './open-programmed-report.ts';
import type { DaemonOptions } from './options.ts';
import { ServiceHealthPorts } from './service-health-ports.ts';
import type { OpenResources, Shutdown } from './shutdown.ts';
import { sourceHandlers } from './source-handlers.ts';

/** What the start has opened so far. */
export interface RunParts {
  readonly options: DaemonOptions;
  readonly resources: OpenResources;
  readonly shutdown: Shutdown;
  readonly observability: Observability;
  readonly objects: Objects;
  readonly programmed: ProgrammedVersions;
  readonly nodeName: string;
  readonly mode: ConfiguredMode;
  readonly families: readonly Family[];
  readonly onConfigurationChange: OnConfigurationChange;
}

/** The names that upstream's log has. */
const WATCHED = ['service', 'endpoint slice', 'serviceCIDR', 'node'];

/** Starts the proxy. Resolves when the source has begun. */
export async function run(parts: RunParts): Promise<void> {
  const { objects, observability, families, mode } = parts;
  const { health, metrics, checks, history, recorder, events } = observability;
  history.started(`node ${parts.nodeName}, mode ${mode.descriptor.name}, ${families.join(' and ')}`);
  health.started(families);
  metrics.set.setFamilies(families);
  const record = new RunRecord();
  const proxy = openProxy(parts, record);
  showProxyCounts(metrics, proxy);
  proxy.mode.registerMetrics(metrics.set);
  const traffic = new TrafficReader(proxy.mode, systemClock);
  if (parts.options.countConnections) registerTraffic(metrics.set, traffic);
  checks.add('set aside', () => setAsideNote(proxy.mode.setAside()));
  if (mode.descriptor.network) checks.add('sockets', () => conditionOutcome(proxy.mode));
  logSettings(parts.options);
  openProgrammedReport(parts, proxy);
  logIgnoredDefault(parts);
  await openInspection(parts, proxy, record, traffic);
  parts.onConfigurationChange(next => proxy.configure(liveConfig(next, parts.options.gates, parts.options)));
  if (parts.options.manifests === undefined)
    for (const resource of WATCHED) parts.options.log.info('config', `Starting ${resource} config controller`);
  await objects.source.start(sourceHandlers(parts, proxy.loop));
  recorder.record(events.started());
  if (parts.options.isModeDefaulted) recorder.record(events.modeDefaulted());
  const { startEvent } = mode.descriptor;
  if (startEvent) recorder.record(events.modeStarted(startEvent));
}

function logSettings({ configuration, gates, log }: DaemonOptions): void {
  if (!log.isEnabled(2, 'proxy')) return;
  const { intervals, masqueradeBit } = liveConfig(configuration, gates);
  const seconds = (ms: number) => `${ms / 1000}s`;
  log.v(2, 'proxy', 'Sync params', {
    minSyncPeriod: seconds(intervals.minInterval),
    syncPeriod: seconds(intervals.retryInterval),
    maxSyncPeriod: seconds(intervals.maxInterval),
  });
  log.v(2, 'proxy', 'Using a mark for masquerade', { mark: `0x${(2 ** masqueradeBit).toString(16).padStart(8, '0')}` });
}

function logIgnoredDefault({ options: { defaultBalance, log }, mode }: RunParts): void {
  const notice = unavailableDefault(defaultBalance, mode);
  if (notice !== undefined) log.warning('proxy', notice);
}

function openProxy(parts: RunParts, record: RunRecord): RunningProxy {
  const { options, resources, observability, objects, programmed, nodeName, families, mode } = parts;
  const { health, metrics, checks, input, history, recorder, events } = observability;
  const { configuration, gates, log } = options;
  const memory = new StartMemoryRelease(families);
  resources.add('memory', () => memory.close());
  const condition = new ConditionReport(families, {
    log,
    changed: next => recorder.record(events.conditionChanged(next)),
  });
  const proxy: RunningProxy = createProxy(
    { nodeName, families, live: liveConfig(configuration, gates, options), mode, formerCgroupRoot: options.cgroupRoot },
    proxyListeners({
      mode: configuration.mode,
      log,
      health,
      metrics,
      input,
      history,
      programmed,
      node: family => proxy.loop.state.nodeOptions.families[family].node,
      syncEnded: (family, sync) => record.syncEnded(family, sync),
      synced: family => {
        healthPorts.sync(family);
        condition.synced(family, proxy.mode.condition?.());
        memory.synced(family);
      },
      conditionChanged: () => condition.look(proxy.mode.condition?.()),
      balanceUnavailable: (service, reason) =>
        recorder.record(events.balanceUnavailable(objects.serviceReference(objectName(service)), reason)),
      connectionsNotEnded: (service, reason) =>
        recorder.record(events.connectionsNotEnded(objects.serviceReference(objectName(service)), reason)),
      ejectionChanged: report =>
        recorder.record(events.ejectionChanged(objects.serviceReference(objectName(report.service)), report)),
      setAside: port => recorder.record(events.setAside(objects.serviceReference(port), port)),
      driftRepaired: (family, repair) => {
        record.repaired(family, repair);
        recorder.record(events.driftRepaired(family, repair));
      },
    }),
  );
  resources.add('proxy', () => proxy.close());
  checks.add('drift', () => {
    const { repairs } = record.drift;
    return repairs > 0 ? { note: `${repairs} ${repairs === 1 ? 'repair' : 'repairs'} since the start` } : undefined;
  });
  const healthPorts = openHealthPorts(parts, proxy);
  resources.add('service health ports', () => healthPorts.close());
  return proxy;
}

function openHealthPorts({ options, observability, objects, nodeName }: RunParts, proxy: RunningProxy) {
  const { health, recorder, events } = observability;
  return new ServiceHealthPorts({
    proxy,
    healthy: () => health.healthy,
    onChange: (ipFamily, { kind, service, port, localEndpoints: endpointCount }) => {
      const { log } = options;
      if (kind === 'opening') log.v(2, 'health', 'Opening a health check port', { ipFamily, service, port });
      if (kind === 'closing') log.v(2, 'health', 'Closing a health check port', { ipFamily, service, port });
      if (kind === 'endpoints')
        log.v(3, 'health', 'Reporting endpoints at a health check port', { ipFamily, service, endpointCount });
    },
    onError(failure) {
      const { service, port, error: err } = failure;
      options.log.error('health', 'Failed to start healthcheck', { err, node: nodeName, service, port });
      recorder.record(events.healthPortFailed(objects.serviceReference(objectName(service)), failure));
    },
  });
}

function conditionOutcome(mode: Mode): { readonly note: string } | undefined {
  const condition = mode.condition?.();
  return condition && { note: conditionNote(condition) };
}

const MAX_NAMED = 5;

/** All other service ports are served, so the node stays ready. */
function setAsideNote(ports: readonly SetAside[]): { readonly note: string } | undefined {
  if (ports.length === 0) return undefined;
  const named = ports.slice(0, MAX_NAMED).map(port => `${setAsideName(port)} (${port.family}): ${port.cause.message}`);
  const count =
    ports.length === 1 ? '1 service port is set aside:' : `${ports.length} service ports are set aside, among them`;
  return { note: `${count} ${named.join('; ')}` };
}
