import { type Configuration, configurationObject, isEnabled, splitHostPort } from '../config/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { parseIp } from '../net/index.ts';
import { type Checks, type ProxyHealth, proxyHealthHandler } from '../observe/health/index.ts';
import { type HttpHandler, PatientServer } from '../observe/http/index.ts';
import { metricsHandler, type ProxyMetrics } from '../observe/metrics/index.ts';
import type { DaemonOptions } from './options.ts';

export interface ServerParts {
  readonly options: DaemonOptions;
  /** As it is in force. */
  readonly configuration: () => Configuration;
  readonly health: ProxyHealth;
  readonly checks: Checks;
  readonly metrics: ProxyMetrics;
  /** A server that must be there could not be started. */
  readonly failed: (server: 'healthz' | 'metrics', error: Error) => void;
  readonly clock?: Clock;
}

/** Starts the servers for health and metrics; the first may be switched off. */
export async function startServers(parts: ServerParts): Promise<readonly PatientServer[]> {
  const { healthzBindAddress, metricsBindAddress } = parts.options.configuration;
  const servers = [
    ...(healthzBindAddress === '' ? [] : [open(parts, 'healthz', healthzBindAddress, healthHandler(parts))]),
    open(parts, 'metrics', metricsBindAddress, metricsServerHandler(parts)),
  ];
  await Promise.all(servers.map(server => server.start()));
  return servers;
}

function open(parts: ServerParts, name: 'healthz' | 'metrics', address: string, handle: HttpHandler): PatientServer {
  const { configuration, log } = parts.options;
  const { host, port } = splitHostPort(address) ?? { host: '', port: '' };
  const ip = parseIp(host);
  if (ip === undefined) throw new RangeError(`not an address to listen on: ${address}`);
  const hardFail = configuration.bindAddressHardFail;
  return new PatientServer({
    ip,
    port: Number(port),
    handle,
    hardFail,
    failed(error) {
      const text = `failed to start ${name === 'healthz' ? 'proxy healthz' : 'metrics server'} on ${address}: ${errorText(error)}`;
      log.error('servers', 'Server failed', { server: name, err: text, retry: hardFail ? undefined : '5s' });
      if (hardFail) parts.failed(name, new Error(name === 'healthz' ? `healthz server failed: ${text}` : text));
    },
  });
}

function healthHandler({ health, checks, metrics, clock = systemClock }: ServerParts): HttpHandler {
  return proxyHealthHandler({
    health,
    checks,
    clock,
    answered: (path, status) => (path === '/healthz' ? metrics.healthz(status) : metrics.livez(status)),
  });
}

/** As statusz has them: without the `v`. */
function statuszVersions(kubernetesVersion: string) {
  const binaryVersion = kubernetesVersion.replace(/^v/, '');
  return { binaryVersion, emulationVersion: binaryVersion.replace(/^(\d+\.\d+).*/, '$1') };
}

function metricsServerHandler({ options, configuration, metrics, clock = systemClock }: ServerParts): HttpHandler {
  const { gates, kubernetesVersion } = options;
  const flags = () => new Map(options.flags().map(({ name, value }) => [name, value]));
  return metricsHandler({
    metrics: () => metrics.text(),
    mode: () => configuration().mode,
    configz: () => configurationObject(configuration()),
    flagz: isEnabled(gates, 'ComponentFlagz') ? flags : undefined,
    statusz: isEnabled(gates, 'ComponentStatusz') ? statuszVersions(kubernetesVersion) : undefined,
    profiling: options.configuration.enableProfiling,
    setVerbosity: level => options.logControl.setVerbosity(level),
    clock,
  });
}
