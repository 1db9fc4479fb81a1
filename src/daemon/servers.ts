import { type Configuration, configurationObject, isEnabled, splitHostPort } from '../config/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { withoutSecrets } from '../lib/secrets.ts';
import { parseIp } from '../net/index.ts';
import { type Checks, type ProxyHealth, proxyHealthHandler } from '../observe/health/index.ts';
import { type HttpHandler, RetryingHttpServer } from '../observe/http/index.ts';
import { metricsHandler, type ProxyMetrics } from '../observe/metrics/index.ts';
import type { DaemonOptions } from './options.ts';
import { statuszInfo } from './version-info.ts';

type ServerName = 'healthz' | 'metrics';

export interface ServerParts {
  readonly options: DaemonOptions;
  /** The configuration that the proxy uses now. */
  readonly configuration: () => Configuration;
  readonly health: ProxyHealth;
  readonly checks: Checks;
  readonly metrics: ProxyMetrics;
  /** With `bindAddressHardFail`: a server could not be started, or its listener broke. */
  readonly onError: (server: ServerName, error: Error) => void;
  readonly clock?: Clock;
}

/** Starts the servers for health and metrics. An empty `healthzBindAddress` switches the first one off. */
export async function startServers(parts: ServerParts): Promise<readonly RetryingHttpServer[]> {
  const { healthzBindAddress, metricsBindAddress } = parts.options.configuration;
  const servers = [
    ...(healthzBindAddress === '' ? [] : [createServer(parts, 'healthz', healthzBindAddress, healthHandler(parts))]),
    createServer(parts, 'metrics', metricsBindAddress, metricsServerHandler(parts)),
  ];
  await Promise.all(servers.map(server => server.start()));
  return servers;
}

function createServer(parts: ServerParts, name: ServerName, address: string, handle: HttpHandler): RetryingHttpServer {
  const { configuration, log } = parts.options;
  const { host, port } = splitHostPort(address) ?? { host: '', port: '' };
  const ip = parseIp(host);
  if (ip === undefined) throw new RangeError(`not an address to listen on: ${address}`);
  const hardFail = configuration.bindAddressHardFail;
  log.v(3, 'servers', 'Starting an HTTP server', { server: name, address });
  return new RetryingHttpServer({
    ip,
    port: Number(port),
    handle,
    hardFail,
    onError(error) {
      const text = `failed to start ${name === 'healthz' ? 'proxy healthz' : 'metrics server'} on ${address}: ${errorText(error)}`;
      log.error('servers', 'An HTTP server failed', {
        server: name,
        err: text,
        retryAfter: hardFail ? undefined : '5s',
      });
      if (hardFail) parts.onError(name, new Error(name === 'healthz' ? `healthz server failed: ${text}` : text));
    },
  });
}

function healthHandler({ health, checks, metrics, clock = systemClock }: ServerParts): HttpHandler {
  return proxyHealthHandler({
    health,
    checks,
    clock,
    onAnswer: (path, status) => (path === '/healthz' ? metrics.healthz(status) : metrics.livez(status)),
  });
}

function metricsServerHandler({ options, configuration, metrics, clock = systemClock }: ServerParts): HttpHandler {
  const { gates, kubernetesVersion } = options;
  const flags = () => new Map(options.flags().map(({ name, value }) => [name, value]));
  return metricsHandler({
    // The server compresses this text, and then nothing can be removed from it.
    metrics: async () => withoutSecrets(await metrics.text()),
    mode: () => configuration().mode,
    configz: () => configurationObject(configuration()),
    flagz: isEnabled(gates, 'ComponentFlagz') ? flags : undefined,
    statusz: isEnabled(gates, 'ComponentStatusz') ? statuszInfo(kubernetesVersion) : undefined,
    profiling: options.configuration.enableProfiling,
    setVerbosity: level => options.logControl.setVerbosity(level),
    clock,
  });
}
