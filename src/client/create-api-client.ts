import { type Clock, systemClock } from '../lib/clock.ts';
import type { ApiClient } from './api-client.ts';
import { type ClientLog, silent } from './client-log.ts';
import { credentialSource } from './credentials/credentials.ts';
import { HttpApiClient } from './http-api-client.ts';
import { type Environment, SERVICE_ACCOUNT_FOLDER } from './kubeconfig/in-cluster.ts';
import { resolveConfig } from './kubeconfig/resolve-config.ts';
import { rateLimiters } from './rate-limiter.ts';
import type { Observe } from './request-observation.ts';
import type { ConnectionTimes } from './transport/connection.ts';
import { connectionTimes } from './transport/timeouts.ts';
import { Transport } from './transport/transport.ts';

export interface ApiClientOptions {
  /** A file, or empty for the pod's own configuration. */
  readonly kubeconfig?: string | undefined;
  /** The server's address, before that of the kubeconfig. */
  readonly master?: string | undefined;
  readonly clientConnection: ClientConnection;
  readonly env?: Environment | undefined;
  readonly log?: ClientLog | undefined;
  readonly observe?: Observe | undefined;
  readonly clock?: Clock | undefined;
  readonly times?: Partial<ConnectionTimes> | undefined;
  readonly serviceAccountFolder?: string | undefined;
}

/** As in a proxy's configuration. */
export interface ClientConnection {
  readonly acceptContentTypes: string;
  readonly contentType: string;
  readonly qps: number;
  readonly burst: number;
}

export interface ConfiguredApiClient extends ApiClient {
  /** The server's host and port. */
  readonly host: string;
  /** What is sent as a body, unless a request says otherwise. */
  readonly contentType: string;
  /** The Accept header: what the configuration wants, else `contentType` and whatever else there is. */
  accept(contentType?: string): string;
}

/** A client for the server that flags, kubeconfig or environment name. Throws an ApiError if they cannot be used. */
export function createApiClient(options: ApiClientOptions): ConfiguredApiClient {
  const { env = process.env, log = silent, clock = systemClock, clientConnection } = options;
  const config = resolveConfig({
    kubeconfig: options.kubeconfig ?? '',
    master: options.master ?? '',
    env,
    serviceAccountFolder: options.serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER,
    log,
  });
  const times = { ...connectionTimes(env, log), ...options.times };
  return new HttpApiClient({
    config,
    acceptContentTypes: clientConnection.acceptContentTypes,
    contentType: clientConnection.contentType,
    credentials: credentialSource(config.user, { env, clock, log }),
    limiterOf: rateLimiters(clientConnection.qps, clientConnection.burst, clock),
    transport: new Transport({ config, env, times, clock, log }),
    observe: options.observe ?? (() => {}),
    clock,
    log,
  });
}
