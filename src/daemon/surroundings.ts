import { hostname } from 'node:os';
import type { ApiClient } from '../client/index.ts';
import type { Configuration } from '../config/index.ts';
import { systemClock } from '../lib/clock.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { errorText } from '../lib/error-text.ts';
import { EventRecorder } from '../observe/events/index.ts';
import { Checks, ProxyHealth } from '../observe/health/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import type { Closers } from './closers.ts';
import type { Ending } from './ending.ts';
import { eventsOf } from './events.ts';
import { createMetrics } from './metrics.ts';
import type { DaemonOptions } from './options.ts';
import { startServers } from './servers.ts';

/** What tells others about the proxy. It is there before the proxy is. */
export interface Surroundings {
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly checks: Checks;
  /** Keeps Events until there is an API server to write them to. */
  readonly recorder: EventRecorder;
  /** The client that writes Events, if there will be one. What failed before is told to the API before the process ends. */
  connected(client: ApiClient | undefined): void;
  readonly events: ReturnType<typeof eventsOf>;
  /** The configuration that is in force from now on, for those who ask. */
  configured(configuration: Configuration): void;
}

export async function openSurroundings(
  options: DaemonOptions,
  nodeName: string,
  closers: Closers,
  ending: Ending,
): Promise<Surroundings> {
  const timeoutMs = 2 * toMilliseconds(options.configuration.syncPeriod);
  const health = new ProxyHealth({ timeoutMs, clock: systemClock });
  const metrics = createMetrics(options, health);
  closers.add('metrics', () => metrics.close());
  const checks = new Checks();
  const recorder = openRecorder(options);
  const events = eventsOf(nodeName);
  const failures = new Failures(ending);
  const connected = (client: ApiClient | undefined) => {
    if (client) recorder.attach(client);
    // Closed before the client is, for it may have something to write yet.
    closers.add('events', () => recorder.close());
    failures.release();
  };
  let { configuration } = options;
  const configured = (next: Configuration) => {
    configuration = next;
  };
  const surroundings = { metrics, health, checks, recorder, events, connected, configured };
  if (options.initOnly) return surroundings;
  const servers = await startServers({
    options,
    configuration: () => configuration,
    health,
    checks,
    metrics,
    failed(server, error) {
      recorder.record(events.serverFailed(server, errorText(error)));
      failures.add(error);
    },
  });
  for (const server of servers) closers.add('server', () => server.close());
  return surroundings;
}

function openRecorder({ log }: DaemonOptions): EventRecorder {
  return new EventRecorder({
    reporter: { controller: 'kube-proxy', instance: `kube-proxy-${hostname()}` },
    clock: systemClock,
    lost: ({ reason, regarding }, why) =>
      log.v(2, 'events', 'An event was not written', { reason, regarding: regarding.name, why }),
  });
}

/** Servers that must be there and could not be started end the process, but not before an Event can tell of it. */
export class Failures {
  readonly #ending: Ending;
  #released = false;
  #first: Error | undefined;

  constructor(ending: Ending) {
    this.#ending = ending;
  }

  add(error: Error): void {
    this.#first ??= error;
    if (this.#released) this.#ending.fail(this.#first);
  }

  release(): void {
    this.#released = true;
    if (this.#first) this.#ending.fail(this.#first);
  }
}
