import { request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../api-error.ts';
import type { ClientConfig } from '../client-config.ts';
import type { ClientCertificate } from '../credentials/credentials.ts';
import { addressOf, hostName, portOf } from '../server-url.ts';
import { connectError } from './connect-error.ts';

/** A dead peer of an idle socket is noticed by the kernel after this and ten seconds. */
const KEEP_ALIVE_MS = 15_000;

export interface DialOptions {
  readonly config: ClientConfig;
  readonly proxy?: URL | undefined;
  /** The CAs of a proxy that is spoken to by TLS. */
  readonly proxyCa?: string | undefined;
  /** The CAs in PEM; undefined for those that Node brings along. */
  readonly ca?: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
  readonly protocols: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A socket to the server: through the proxy if there is one, and with TLS if the server's address says so. */
export async function dial(options: DialOptions): Promise<Socket | TLSSocket> {
  const { config, proxy, timeoutMs, clock } = options;
  const address = addressOf(config.server);
  const attempt = new Attempt();
  const timer = clock.setTimer(timeoutMs, () => {
    const text = `no connection to the API server ${address} within ${timeoutMs / 1000} s`;
    attempt.end(new ApiError('timeout', text, { address }));
  });
  try {
    const way = proxy ? await throughProxy(attempt, proxy, options) : await tcp(attempt, config.server);
    return config.server.protocol === 'https:' ? await tlsToServer(attempt, way, options) : way;
  } catch (error) {
    attempt.end(error);
    throw connectError(attempt.reason ?? error, config);
  } finally {
    timer.cancel();
  }
}

/** The sockets of one attempt, so that all of them end with it. */
class Attempt {
  readonly #sockets: Socket[] = [];
  reason: unknown;

  end(reason: unknown): void {
    this.reason ??= reason;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The socket once it has told `event`. */
  ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect'): Promise<S> {
    this.#sockets.push(socket);
    if (this.reason !== undefined) socket.destroy();
    return new Promise((resolve, reject) => {
      const closed = () => reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
      const settle = () => {
        socket.off('error', reject);
        socket.off('close', closed);
        // Whoever takes it over listens to errors; one that comes before must not end the process.
        socket.on('error', () => {});
        resolve(socket);
      };
      socket.once('error', reject);
      socket.once('close', closed);
      socket.once(event, settle);
    });
  }
}

async function tcp(attempt: Attempt, url: URL): Promise<Socket> {
  const options = { host: hostName(url), port: portOf(url), keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
  return attempt.ready(connect({ ...options, noDelay: true }), 'connect');
}

async function throughProxy(attempt: Attempt, proxy: URL, { config, proxyCa }: DialOptions): Promise<Socket> {
  try {
    const plain = await tcp(attempt, proxy);
    const socket =
      proxy.protocol === 'https:'
        ? await attempt.ready(tls(plain, hostName(proxy), { ca: proxyCa }), 'secureConnect')
        : plain;
    // A request for plain HTTP goes to the proxy as it is.
    return config.server.protocol === 'https:' ? await tunnel(socket, proxy, config) : socket;
  } catch (error) {
    throw connectError(error, config, proxy);
  }
}

function tunnel(socket: Socket, proxy: URL, config: ClientConfig): Promise<Socket> {
  const address = addressOf(config.server);
  return new Promise((resolve, reject) => {
    const headers = { host: address, ...proxyAuthorization(proxy) };
    const asked = request({ method: 'CONNECT', path: address, headers, createConnection: () => socket });
    asked.once('error', reject);
    asked.once('connect', ({ statusCode = 0, statusMessage = '' }) => {
      if (statusCode === 200) return resolve(socket);
      const text = `the proxy ${addressOf(proxy)} does not let us through to the API server ${address}: ${statusCode} ${statusMessage}`;
      reject(new ApiError('unreachable', text.trimEnd(), { address }));
    });
    asked.end();
  });
}

export function proxyAuthorization({ username, password }: URL): { readonly 'proxy-authorization'?: string } {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function tlsToServer(attempt: Attempt, socket: Socket, options: DialOptions): Promise<TLSSocket> {
  const { config, ca, certificate, protocols } = options;
  const name = config.tls.serverName ?? hostName(config.server);
  const secure = tls(socket, name, {
    ca,
    cert: certificate?.certificate,
    key: certificate?.key,
    ALPNProtocols: [...protocols],
    rejectUnauthorized: !config.tls.insecure,
  });
  return attempt.ready(secure, 'secureConnect');
}

function tls(socket: Socket, name: string, options: ConnectionOptions = {}): TLSSocket {
  return connectTls({
    socket,
    // An address is never sent as a server name, but it is checked all the same.
    servername: isIP(name) ? '' : name,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    minVersion: 'TLSv1.2',
    // As Go: a CA in the bundle is trusted even if the one that signed it is not there.
    allowPartialTrustChain: true,
    ...options,
  });
}
