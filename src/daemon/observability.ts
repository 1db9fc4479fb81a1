import { hostname } from 'node:os';
import type { ApiClient } from '../client/index.ts';
import type { Configuration } from '../config/index.ts';
import { History } from '../history/index.ts';
import { systemClock } from '../lib/clock.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { errorText } from '../lib/error-text.ts';
import { EventRecorder } from '../observe/events/index.ts';
import { Checks, ProxyHealth } from '../observe/health/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import { eventsOf } from './events.ts';
import { InputProblems } from './input-problems.ts';
import { createMetrics } from './metrics.ts';
import type { DaemonOptions } from './options.ts';
import { startServers } from './servers.ts';
import type { OpenResources, Shutdown } from './shutdown.ts';

/** Metrics, health, Events and the servers that show them. They exist before the proxy does. */
export interface Observability {
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly checks: Checks;
  readonly input: InputProblems;
  readonly history: History;
  /** Keeps Events until `connectEvents`. */
  readonly recorder: EventRecorder;
  /**
   * The client that writes Events, or undefined if there is no API server. A server that failed ends the process now.
   */
  connectEvents(client: ApiClient | undefined): void;
  readonly events: ReturnType<typeof eventsOf>;
  /** The configuration that the proxy uses now. */
  configuration(): Configuration;
  /** Sets the configuration that the servers show. */
  setConfiguration(configuration: Configuration): void;
}

export async function openObservability(
  options: DaemonOptions,
  nodeName: string,
  resources: OpenResources,
  shutdown: Shutdown,
): Promise<Observability> {
  const timeoutMs = 2 * toMilliseconds(options.configuration.syncPeriod);
  const health = new ProxyHealth({ timeoutMs, clock: systemClock });
  const metrics = createMetrics(options, health);
  resources.add('metrics', () => metrics.close());
  const checks = new Checks();
  const input = new InputProblems(options.log, metrics, checks);
  const recorder = openRecorder(options);
  const events = eventsOf(nodeName);
  const failures = new ServerFailures(shutdown);
  const connectEvents = (client: ApiClient | undefined) => {
    if (client) recorder.attach(client);
    // Added after the client, so that it closes before the client: it may still have Events to write.
    resources.add('events', () => recorder.close());
    failures.release();
  };
  let { configuration } = options;
  const setConfiguration = (next: Configuration) => {
    configuration = next;
  };
  const observability = {
    metrics,
    health,
    checks,
    input,
    history: new History(),
    recorder,
    events,
    connectEvents,
    configuration: () => configuration,
    setConfiguration,
  };
  if (options.initOnly) return observability;
  const servers = await startServers({
    options,
    configuration: () => configuration,
    health,
    checks,
    metrics,
    onError(server, error) {
      recorder.record(events.serverFailed(server, errorText(error)));
      failures.add(error);
    },
  });
  for (const server of servers) resources.add('server', () => server.close());
  return observability;
}

function openRecorder({ log }: DaemonOptions): EventRecorder {
  return new EventRecorder({
    reporter: { controller: 'kube-proxy', instance: `kube-proxy-${hostname()}` },
    clock: systemClock,
    onLost: ({ reason, regarding }, cause) =>
      log.v(2, 'events', 'An Event was not written to the API server', { reason, regarding: regarding.name, cause }),
  });
}

/**
 * Ends the process with the first failure of a server that must run (`bindAddressHardFail`). Until `release` it only
 * keeps the failure, because no Event could be written yet.
 */
export class ServerFailures {
  readonly #shutdown: Shutdown;
  #released = false;
  #first: Error | undefined;

  constructor(shutdown: Shutdown) {
    this.#shutdown = shutdown;
  }

  add(error: Error): void {
    this.#first ??= error;
    if (this.#released) this.#shutdown.fail(this.#first);
  }

  release(): void {
    this.#released = true;
    if (this.#first) this.#shutdown.fail(this.#first);
  }
}
