import type { Clock } from '../../lib/clock.ts';
import { unlessAborted } from '../abortable.ts';
import type { ApiResponse } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import type { ClientConfig } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import { type ClientCertificate, sameCertificate } from '../credentials/credentials.ts';
import { certificateCount } from '../credentials/pem.ts';
import { ReloadedFile } from '../credentials/reloaded-file.ts';
import type { Environment } from '../kubeconfig/in-cluster.ts';
import { addressOf } from '../server-url.ts';
import { type Connection, type ConnectionTimes, UnprocessedError, type WireRequest } from './connection.ts';
import { type DialOptions, dial, proxyAuthorization } from './dial.ts';
import { checkedProxyUrl, proxyFromEnvironment } from './http-proxy.ts';
import { Http1Connection, type Http1Options } from './http1-connection.ts';
import { Http2Connection } from './http2-connection.ts';
import { systemRoots } from './system-roots.ts';

export interface TransportOptions {
  readonly config: ClientConfig;
  readonly env: Environment;
  readonly times: ConnectionTimes;
  readonly clock: Clock;
  readonly log: ClientLog;
}

interface Open {
  readonly connection: Connection;
  readonly certificate: ClientCertificate | undefined;
  /** Nothing went through it yet: what fails on it fails for a reason that a new one would not cure. */
  fresh: boolean;
}

/** Keeps one connection to the server, and makes a new one when it is needed. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #proxy: URL | undefined;
  readonly #caFile: ReloadedFile | undefined;
  readonly #all = new Set<Connection>();
  #current: Open | undefined;
  #opening: Promise<Open> | undefined;
  #closed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { config, env, clock, log } = options;
    this.#proxy = config.proxyUrl
      ? checkedProxyUrl(config.proxyUrl, `proxy-url of ${config.origin}`)
      : proxyFromEnvironment(config.server, env);
    const { ca } = config.tls;
    this.#caFile = ca?.kind === 'file' ? new ReloadedFile(ca.path, clock, log) : undefined;
    // What cannot be used is told at the start.
    this.#authorities();
  }

  async send(request: WireRequest, certificate: ClientCertificate | undefined): Promise<ApiResponse> {
    for (let first = true; ; first = false) {
      const open = await this.#open(certificate, request.signal);
      const { fresh } = open;
      open.fresh = false;
      try {
        return await open.connection.request(request);
      } catch (error) {
        if (!first || !mayRepeat(error, request, fresh)) throw error;
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#all) connection.close();
    this.#all.clear();
  }

  async #open(certificate: ClientCertificate | undefined, signal: AbortSignal | undefined): Promise<Open> {
    for (;;) {
      if (this.#closed) throw new ApiError('closed', 'the client was closed', { address: this.#address });
      const current = this.#current;
      if (current?.connection.usable && sameCertificate(current.certificate, certificate)) return current;
      this.#opening ??= this.#connect(certificate).finally(() => {
        this.#opening = undefined;
      });
      const opened = await unlessAborted(this.#opening, signal);
      if (sameCertificate(opened.certificate, certificate)) return opened;
    }
  }

  async #connect(certificate: ClientCertificate | undefined): Promise<Open> {
    const connection = await this.#dial(certificate);
    // A session is whose certificate it was begun with: another certificate needs another session.
    this.#current?.connection.retire();
    for (const old of this.#all) if (old.ended) this.#all.delete(old);
    this.#all.add(connection);
    if (this.#closed) connection.close();
    this.#current = { connection, certificate, fresh: true };
    return this.#current;
  }

  async #dial(certificate: ClientCertificate | undefined): Promise<Connection> {
    const { config, env, times, clock } = this.#options;
    const address = this.#address;
    const { server } = config;
    const proxy = this.#proxy;
    const proxyCa = proxy?.protocol === 'https:' ? systemRoots(env) : undefined;
    const dialling = { config, proxy, proxyCa, certificate, timeoutMs: times.connectMs, clock };
    const options = (protocols: readonly string[]): DialOptions => ({
      ...dialling,
      protocols,
      ca: this.#authorities(),
    });
    const dialHttp1 = () => dial(options(['http/1.1']));
    const http1 = { dial: dialHttp1, host: server.host, address };
    if (server.protocol === 'http:') return new Http1Connection({ ...http1, ...this.#plainProxy(server) });
    if (env.DISABLE_HTTP2) return new Http1Connection(http1);
    const socket = await dial(options(['h2', 'http/1.1']));
    if (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2')
      return new Http1Connection({ ...http1, first: socket });
    return new Http2Connection({ socket, origin: server.origin, address, times, clock });
  }

  /** A proxy reads plain requests itself, and wants to know whom they are for. */
  #plainProxy({ origin }: URL): Partial<Http1Options> {
    return this.#proxy ? { prefix: origin, headers: proxyAuthorization(this.#proxy) } : {};
  }

  #authorities(): string | undefined {
    const { config, env } = this.#options;
    const { ca, insecure } = config.tls;
    if (insecure) return undefined;
    if (!ca) return systemRoots(env);
    this.#caFile?.expire();
    const pem = ca.kind === 'data' ? ca.pem : (this.#caFile?.text() ?? '');
    if (certificateCount(pem) > 0) return pem;
    const name = ca.kind === 'file' ? `${ca.field} ${ca.path}` : ca.field;
    throw new ApiError('configuration', `unable to load root certificates: ${name} holds no PEM certificate`);
  }

  get #address(): string {
    return addressOf(this.#options.config.server);
  }
}

/** Whether another connection may do what this one did not. */
function mayRepeat(error: unknown, { method }: WireRequest, fresh: boolean): boolean {
  if (error instanceof UnprocessedError) return true;
  const lost = error instanceof ApiError && (error.code === 'closed' || error.code === 'timeout');
  return lost && method === 'GET' && !fresh;
}
