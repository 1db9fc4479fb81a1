import { type Clock, systemClock } from '../lib/clock.ts';
import type { ApiClient } from './api-client.ts';
import type { Environment } from './client-config.ts';
import { type ClientLog, silentLog } from './client-log.ts';
import { credentialSource } from './credentials/credentials.ts';
import { HttpApiClient } from './http-api-client.ts';
import { SERVICE_ACCOUNT_FOLDER } from './kubeconfig/in-cluster.ts';
import { resolveConfig } from './kubeconfig/resolve-config.ts';
import { rateLimiters } from './rate-limiter.ts';
import type { RequestObserver } from './request-observation.ts';
import { type ConnectionTimeouts, connectionTimeouts } from './transport/timeouts.ts';
import { Transport } from './transport/transport.ts';

export interface ApiClientOptions {
  /** The path of a kubeconfig; empty or undefined: the pod's own configuration. */
  readonly kubeconfig?: string | undefined;
  /** The context of the kubeconfig. The default is its current context. */
  readonly context?: string | undefined;
  /** The server's address. Replaces the address in the kubeconfig. */
  readonly master?: string | undefined;
  readonly clientConnection: ClientConnection;
  readonly env?: Environment | undefined;
  readonly log?: ClientLog | undefined;
  readonly observe?: RequestObserver | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly timeouts?: Partial<ConnectionTimeouts> | undefined;
  readonly serviceAccountFolder?: string | undefined;
}

/** `clientConnection` of the proxy's configuration. */
export interface ClientConnection {
  readonly acceptContentTypes: string;
  readonly contentType: string;
  readonly qps: number;
  readonly burst: number;
}

export interface ConfiguredApiClient extends ApiClient {
  /** The server's host and port. */
  readonly host: string;
  /** The content type of a request's body, if the request gives none. */
  readonly contentType: string;
  /** The Accept header: `acceptContentTypes` of the configuration, or `contentType` followed by any other type. */
  accept(contentType?: string): string;
}

/** Throws an ApiError if the flags, the kubeconfig or the environment cannot be used. */
export function createApiClient(options: ApiClientOptions): ConfiguredApiClient {
  const { env = process.env, log = silentLog, clock = systemClock, clientConnection } = options;
  const config = resolveConfig({
    kubeconfig: options.kubeconfig ?? '',
    context: options.context,
    master: options.master ?? '',
    env,
    serviceAccountFolder: options.serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER,
    log,
  });
  const timeouts = { ...connectionTimeouts(env, log), ...options.timeouts };
  return new HttpApiClient({
    config,
    acceptContentTypes: clientConnection.acceptContentTypes,
    contentType: clientConnection.contentType,
    credentials: credentialSource(config.user, { env, clock, log }),
    limiterOf: rateLimiters(clientConnection.qps, clientConnection.burst, clock),
    transport: new Transport({ config, env, timeouts, clock, log }),
    observe: options.observe ?? (() => {}),
    clock,
    random: options.random ?? Math.random,
    log,
  });
}
