import { request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../api-error.ts';
import type { ClientConfig } from '../client-config.ts';
import type { ClientCertificate } from '../credentials/credentials.ts';
import { basicAuthorization } from '../credentials/token.ts';
import { addressOf, hostName, portOf } from '../server-url.ts';
import { connectError } from './connect-error.ts';
import type { ConnectionTimeouts } from './timeouts.ts';

/** After this long on an idle socket the kernel starts to probe the peer. Ten seconds later it notices a dead one. */
const KEEP_ALIVE_MS = 15_000;

export interface DialOptions {
  readonly config: ClientConfig;
  readonly proxy?: URL | undefined;
  /** The CAs for an HTTP proxy that uses TLS. */
  readonly proxyCa?: string | undefined;
  /** The CAs in PEM. Undefined means the CAs that are built into Node. */
  readonly ca?: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
  readonly protocols: readonly string[];
  readonly timeouts: Pick<ConnectionTimeouts, 'connectMs' | 'handshakeMs'>;
  readonly clock: Clock;
}

/** Opens a socket to the server, through the HTTP proxy if there is one, and with TLS if the server's URL is https. */
export async function dial(options: DialOptions): Promise<Socket | TLSSocket> {
  const { config, proxy, timeouts, clock } = options;
  const { connectMs } = timeouts;
  const address = addressOf(config.server);
  const attempt = new Attempt();
  const timer = clock.setTimer(connectMs, () => {
    const text = `no connection to the API server ${address} within ${connectMs / 1000} s`;
    attempt.end(new ApiError('timeout', text, { address }));
  });
  try {
    const socket = proxy ? await throughProxy(attempt, proxy, options) : await tcp(attempt, config.server);
    return config.server.protocol === 'https:' ? await tlsToServer(attempt, socket, options) : socket;
  } catch (error) {
    attempt.end(error);
    throw connectError(attempt.reason ?? error, config);
  } finally {
    timer.cancel();
  }
}

/** The sockets of one attempt to connect. If the attempt fails, all of them are destroyed. */
class Attempt {
  readonly #sockets: Socket[] = [];
  reason: unknown;

  end(reason: unknown): void {
    this.reason ??= reason;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Resolves with the socket when it emits `event`. */
  ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect'): Promise<S> {
    this.#sockets.push(socket);
    if (this.reason !== undefined) socket.destroy();
    return new Promise((resolve, reject) => {
      const closed = () => reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
      const settle = () => {
        socket.off('error', reject);
        socket.off('close', closed);
        // An error that comes before the caller listens must not end the process.
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

async function throughProxy(attempt: Attempt, proxy: URL, options: DialOptions): Promise<Socket> {
  const { config, proxyCa } = options;
  try {
    const plain = await tcp(attempt, proxy);
    const socket =
      proxy.protocol === 'https:'
        ? await handshake(
            attempt,
            tls(plain, hostName(proxy), { ca: proxyCa }),
            `the HTTP proxy ${addressOf(proxy)}`,
            options,
          )
        : plain;
    // For plain HTTP the proxy reads the requests itself, so there is no tunnel.
    return config.server.protocol === 'https:' ? await tunnel(socket, proxy, config) : socket;
  } catch (error) {
    throw connectError(error, config, proxy);
  }
}

function tunnel(socket: Socket, proxy: URL, config: ClientConfig): Promise<Socket> {
  const address = addressOf(config.server);
  return new Promise((resolve, reject) => {
    const headers = { host: address, ...proxyAuthorization(proxy) };
    const connectRequest = request({ method: 'CONNECT', path: address, headers, createConnection: () => socket });
    connectRequest.once('error', reject);
    connectRequest.once('connect', ({ statusCode = 0, statusMessage = '' }) => {
      if (statusCode === 200) return resolve(socket);
      const text = `the HTTP proxy ${addressOf(proxy)} refused the tunnel to the API server ${address}: ${statusCode} ${statusMessage}`;
      reject(new ApiError('unreachable', text.trimEnd(), { address }));
    });
    connectRequest.end();
  });
}

export function proxyAuthorization({ username, password }: URL): { readonly 'proxy-authorization'?: string } {
  if (username === '' && password === '') return {};
  return { 'proxy-authorization': basicAuthorization(decodeURIComponent(username), decodeURIComponent(password)) };
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
  return handshake(attempt, secure, `the API server ${addressOf(config.server)}`, options);
}

/** Ends the attempt if the peer does not finish the handshake in time. */
async function handshake(
  attempt: Attempt,
  socket: TLSSocket,
  peer: string,
  { config, timeouts, clock }: DialOptions,
): Promise<TLSSocket> {
  const { handshakeMs } = timeouts;
  const timer = clock.setTimer(handshakeMs, () => {
    const text = `no TLS handshake with ${peer} within ${handshakeMs / 1000} s`;
    attempt.end(new ApiError('timeout', text, { address: addressOf(config.server) }));
  });
  try {
    return await attempt.ready(socket, 'secureConnect');
  } finally {
    timer.cancel();
  }
}

function tls(socket: Socket, name: string, options: ConnectionOptions = {}): TLSSocket {
  return connectTls({
    socket,
    // TLS does not allow an IP address as server name. The check below covers it nevertheless.
    servername: isIP(name) ? '' : name,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    minVersion: 'TLSv1.2',
    // Like Go, trust a CA of the bundle even if the CA that signed it is not in the bundle.
    allowPartialTrustChain: true,
    ...options,
  });
}
