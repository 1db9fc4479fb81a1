import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as Listener, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpHandler } from './answer.ts';
import { answerRequest } from './answer-request.ts';
import { clientErrorText } from './client-error.ts';
import { type ConnectionTable, processConnections } from './connection-table.ts';
import type { HttpConnection } from './http-connection.ts';
import { type Listen, type ListenAddress, listenHere } from './listen.ts';
import { type HttpServerTls, openConnection } from './open-connection.ts';
import { SilentConnection } from './silent-connection.ts';

/** Callers are probes and scrapers, and none of them needs more than this. */
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
};
const IDLE_TIMEOUT_MS = 60_000;
/** An answer that its peer has not taken is in memory. */
const ANSWER_TIMEOUT_MS = 30_000;

export interface HttpServerOptions extends ListenAddress, HttpServerSettings {
  readonly listen?: Listen | undefined;
}

export interface HttpServerSettings {
  readonly handle: HttpHandler;
  /** The listener broke after it had been opened. The server is closed. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** The places for connections. By default all servers of the process share them. */
  readonly connections?: ConnectionTable | undefined;
  /** Closes a connection that has no new request for this long. By default 60 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Closes a connection whose peer has not taken a whole answer after this time. By default 30 s. */
  readonly answerTimeoutMs?: number | undefined;
  /** By default the server speaks plain HTTP. */
  readonly tls?: HttpServerTls | undefined;
  /** All answers have these headers, also those that no handler makes. A handler may replace them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An HTTP server on one address, or at a Unix socket. */
export class HttpServer {
  readonly #http: Server;
  readonly #listener: Listener;
  readonly #silent: ReadonlySet<SilentConnection>;

  private constructor(http: Server, listener: Listener, silent: ReadonlySet<SilentConnection>) {
    this.#http = http;
    this.#listener = listener;
    this.#silent = silent;
  }

  /** Rejects if the server cannot listen on the address. */
  static open({ ip, port, family, listen = listenHere, ...settings }: HttpServerOptions): Promise<HttpServer> {
    return HttpServer.serve(onConnection => listen({ ip, port, family }, onConnection), settings);
  }

  /** Serves what `listen` listens on. */
  static async serve(
    listen: (onConnection: (socket: Socket) => void) => Promise<Listener>,
    settings: HttpServerSettings,
  ): Promise<HttpServer> {
    const { onError, connections = processConnections } = settings;
    const http = createHttp(settings);
    const silent = new Set<SilentConnection>();
    const listener = await listen(socket => {
      const incoming = new SilentConnection({
        socket,
        connections,
        timeoutMs: LIMITS.headersTimeout,
        open: (place, bytes) =>
          openConnection({ socket, place, bytes, tls: settings.tls }, connection => {
            silent.delete(incoming);
            http.emit('connection', connection);
          }),
      });
      silent.add(incoming);
      socket.once('close', () => silent.delete(incoming));
    });
    // The HTTP server does not listen itself. Only after this event it enforces the timeouts of its connections.
    http.emit('listening');
    const server = new HttpServer(http, listener, silent);
    listener.on('error', error => {
      server.close();
      onError?.(error);
    });
    return server;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** When this returns, the port is free and all connections are closed. */
  close(): void {
    this.#listener.close();
    this.#http.close();
    this.#http.closeAllConnections();
    for (const connection of this.#silent) connection.destroy();
  }
}

function createHttp(settings: HttpServerSettings): Server {
  const { handle, headers = {}, idleTimeoutMs = IDLE_TIMEOUT_MS, answerTimeoutMs = ANSWER_TIMEOUT_MS } = settings;
  const http = createServer({ ...LIMITS, keepAliveTimeout: idleTimeoutMs }, (request, response) => {
    // Node's types only know sockets.
    const connection = request.socket as Duplex as HttpConnection;
    connection.serve(
      request,
      response,
      closed => void answerRequest(request, response, { handle, headers, connection, closed, answerTimeoutMs }),
    );
  });
  if (settings.headers) {
    http.on('clientError', (error, connection) => {
      if ((connection as Duplex as HttpConnection).isServing || !connection.writable) connection.destroy();
      else connection.end(clientErrorText(error, headers), () => connection.destroy());
    });
    http.on('checkExpectation', (_, response) => response.writeHead(417, headers).end());
  }
  return http;
}
