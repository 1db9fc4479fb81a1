import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as Listener, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorText } from '../../lib/error-text.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from './answer.ts';
import { BAD_REQUEST, textAnswer } from './answer.ts';
import { type ConnectionTable, processConnections } from './connection-table.ts';
import { HttpConnection } from './http-connection.ts';
import { type Listen, type ListenAddress, listenHere } from './listen.ts';
import { parseTarget } from './request-target.ts';
import { SilentConnection } from './silent-connection.ts';
import { processTurns } from './turn-queue.ts';
import { writeAnswer } from './write-answer.ts';

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
}

/** A plain HTTP server on one address, or at a Unix socket. */
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
    const { handle, onError, connections = processConnections } = settings;
    const { idleTimeoutMs = IDLE_TIMEOUT_MS, answerTimeoutMs = ANSWER_TIMEOUT_MS } = settings;
    const http = createServer({ ...LIMITS, keepAliveTimeout: idleTimeoutMs }, (request, response) => {
      // Node's types only know sockets.
      const connection = request.socket as Duplex as HttpConnection;
      connection.serve(
        request,
        response,
        closed => void answer(request, response, { handle, connection, closed, answerTimeoutMs }),
      );
    });
    const silent = new Set<SilentConnection>();
    const listener = await listen(socket => {
      const incoming = new SilentConnection({
        socket,
        connections,
        timeoutMs: LIMITS.headersTimeout,
        open(place, bytes) {
          silent.delete(incoming);
          const connection = new HttpConnection({ socket, place, turns: processTurns, bytes });
          http.emit('connection', connection);
          return connection;
        },
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

interface Exchange {
  readonly handle: HttpHandler;
  readonly connection: HttpConnection;
  readonly closed: AbortSignal;
  readonly answerTimeoutMs: number;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { handle, connection, closed, answerTimeoutMs }: Exchange,
): Promise<void> {
  try {
    const parsed = parseRequest(request, closed);
    const result = parsed ? callHandler(handle, parsed) : BAD_REQUEST;
    if (result instanceof Promise) await result.then(() => connection.turn());
    await writeAnswer(await result, response, { connection, answerTimeoutMs });
  } catch {
    // The answer has a header that HTTP does not allow, or a stream failed: then the caller must not take a part for all.
    response.destroy();
  }
}

function callHandler(handle: HttpHandler, request: HttpRequest): HttpAnswer | Promise<HttpAnswer> {
  const failed = (error: unknown) => textAnswer(500, `${errorText(error)}\n`);
  try {
    const result = handle(request);
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

function parseRequest(message: IncomingMessage, closed: AbortSignal): HttpRequest | undefined {
  const target = parseTarget(message.url ?? '/');
  if (!target) return undefined;
  return {
    ...target,
    method: message.method ?? 'GET',
    query: new URLSearchParams(target.rawQuery ?? ''),
    headers: message.headers,
    disconnected: closed,
    text: limit => readText(message, limit),
  };
}

async function readText(message: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Destroying the message would close the connection, and the caller would get no answer.
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
