import type { Clock } from '../../lib/clock.ts';
import { unlessAborted } from '../abortable.ts';
import type { ApiResponse } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import { type ClientConfig, type Environment, pemName } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import { type ClientCertificate, sameCertificate } from '../credentials/credentials.ts';
import { certificateCount } from '../credentials/pem.ts';
import { ReloadedFile } from '../credentials/reloaded-file.ts';
import { addressOf } from '../server-url.ts';
import { type Connection, UnprocessedError, type WireRequest } from './connection.ts';
import { type DialOptions, dial, proxyAuthorization } from './dial.ts';
import { checkedProxyUrl, proxyFromEnvironment } from './http-proxy.ts';
import { Http1Connection, type Http1Options } from './http1-connection.ts';
import { Http2Connection } from './http2-connection.ts';
import { systemRoots } from './system-roots.ts';
import type { ConnectionTimeouts } from './timeouts.ts';

export interface TransportOptions {
  readonly config: ClientConfig;
  readonly env: Environment;
  readonly timeouts: ConnectionTimeouts;
  readonly clock: Clock;
  readonly log: ClientLog;
}

interface OpenConnection {
  readonly connection: Connection;
  readonly certificate: ClientCertificate | undefined;
  /** No request has used it yet. If the first request fails, a new connection would not help. */
  isFresh: boolean;
}

/** Keeps one connection to the server, and opens a new one when it is needed. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #proxy: URL | undefined;
  readonly #caFile: ReloadedFile | undefined;
  readonly #all = new Set<Connection>();
  #current: OpenConnection | undefined;
  #opening: Promise<OpenConnection> | undefined;
  #closed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { config, env, clock, log } = options;
    this.#proxy = config.proxyUrl
      ? checkedProxyUrl(config.proxyUrl, `proxy-url of ${config.origin}`)
      : proxyFromEnvironment(config.server, env);
    const { ca } = config.tls;
    this.#caFile = ca?.kind === 'file' ? new ReloadedFile(ca.path, clock, log) : undefined;
    // Throws at the start if the CAs cannot be used.
    this.#loadAuthorities();
  }

  async send(request: WireRequest, certificate: ClientCertificate | undefined): Promise<ApiResponse> {
    for (let first = true; ; first = false) {
      const open = await this.#open(certificate, request.signal);
      const { isFresh } = open;
      open.isFresh = false;
      try {
        return await open.connection.request(request);
      } catch (error) {
        if (!first || !mayRetry(error, request, isFresh)) throw error;
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#all) connection.close();
    this.#all.clear();
  }

  async #open(certificate: ClientCertificate | undefined, signal: AbortSignal | undefined): Promise<OpenConnection> {
    for (;;) {
      if (this.#closed) throw new ApiError('closed', 'the client was closed', { address: this.#address });
      const current = this.#current;
      if (current?.connection.isUsable && sameCertificate(current.certificate, certificate)) return current;
      this.#opening ??= this.#connect(certificate).finally(() => {
        this.#opening = undefined;
      });
      const opened = await unlessAborted(this.#opening, signal);
      if (sameCertificate(opened.certificate, certificate)) return opened;
    }
  }

  async #connect(certificate: ClientCertificate | undefined): Promise<OpenConnection> {
    const connection = await this.#dial(certificate);
    // The certificate belongs to the connection: a new certificate needs a new connection.
    this.#current?.connection.retire();
    for (const old of this.#all) if (old.hasEnded) this.#all.delete(old);
    this.#all.add(connection);
    if (this.#closed) connection.close();
    this.#current = { connection, certificate, isFresh: true };
    return this.#current;
  }

  async #dial(certificate: ClientCertificate | undefined): Promise<Connection> {
    const { config, env, timeouts, clock } = this.#options;
    const address = this.#address;
    const { server } = config;
    const proxy = this.#proxy;
    const proxyCa = proxy?.protocol === 'https:' ? systemRoots(env) : undefined;
    const fixed = { config, proxy, proxyCa, certificate, timeouts, clock };
    const options = (protocols: readonly string[]): DialOptions => ({
      ...fixed,
      protocols,
      ca: this.#loadAuthorities(),
    });
    const dialHttp1 = () => dial(options(['http/1.1']));
    const http1 = { dial: dialHttp1, host: server.host, address };
    if (server.protocol === 'http:') return new Http1Connection({ ...http1, ...this.#plainProxy(server) });
    if (env.DISABLE_HTTP2) return new Http1Connection(http1);
    const socket = await dial(options(['h2', 'http/1.1']));
    if (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2')
      return new Http1Connection({ ...http1, first: socket });
    return new Http2Connection({ socket, origin: server.origin, address, timeouts, clock });
  }

  /** An HTTP proxy reads plain requests itself, and needs the whole URL in each of them. */
  #plainProxy({ origin }: URL): Partial<Http1Options> {
    return this.#proxy ? { prefix: origin, headers: proxyAuthorization(this.#proxy) } : {};
  }

  #loadAuthorities(): string | undefined {
    const { config, env } = this.#options;
    const { ca, insecure } = config.tls;
    if (insecure) return undefined;
    if (!ca) return systemRoots(env);
    this.#caFile?.expire();
    const pem = ca.kind === 'data' ? ca.pem : (this.#caFile?.read() ?? '');
    if (certificateCount(pem) > 0) return pem;
    const text = `unable to load root certificates: ${pemName(ca)} contains no PEM certificate`;
    throw new ApiError('configuration', text);
  }

  get #address(): string {
    return addressOf(this.#options.config.server);
  }
}

/** Whether the request may be sent again on another connection. */
function mayRetry(error: unknown, { method }: WireRequest, isFresh: boolean): boolean {
  if (error instanceof UnprocessedError) return true;
  const isLost = error instanceof ApiError && (error.code === 'closed' || error.code === 'timeout');
  return isLost && method === 'GET' && !isFresh;
}
