import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as Listener } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../lib/error-text.ts';
import { withoutSecrets } from '../../lib/secrets.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from './answer.ts';
import { BAD_REQUEST, textAnswer } from './answer.ts';
import { type Listen, type ListenAddress, listenHere } from './listen.ts';
import { parseTarget } from './request-target.ts';

/** Callers are probes and scrapers, and none of them needs more than this. */
const LIMITS = { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 };
const MAX_CONNECTIONS = 1000;

export interface HttpServerOptions extends ListenAddress {
  readonly handle: HttpHandler;
  readonly listen?: Listen | undefined;
  /** The listener broke after it had been opened. The server is closed. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** A plain HTTP server on one address. */
export class HttpServer {
  readonly #http: Server;
  readonly #listener: Listener;

  private constructor(http: Server, listener: Listener) {
    this.#http = http;
    this.#listener = listener;
  }

  /** Rejects if the server cannot listen on the address. */
  static async open({ handle, listen = listenHere, onError, ...address }: HttpServerOptions): Promise<HttpServer> {
    const http = createServer(LIMITS, (request, response) => void answer(handle, request, response));
    const listener = await listen(address, connection => http.emit('connection', connection));
    listener.maxConnections = MAX_CONNECTIONS;
    // The HTTP server does not listen itself. Only after this event it enforces the timeouts of its connections.
    http.emit('listening');
    const server = new HttpServer(http, listener);
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
  }
}

async function answer(handle: HttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  try {
    const parsed = parseRequest(request, disconnected.signal);
    await write(parsed ? await callHandler(handle, parsed) : BAD_REQUEST, response);
  } catch {
    // The caller disconnected, or a body broke off in the middle. It is too late for an error answer.
    response.destroy();
  }
}

async function callHandler(handle: HttpHandler, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await handle(request);
  } catch (error) {
    return textAnswer(500, `${errorText(error)}\n`);
  }
}

async function write({ status, headers, body }: HttpAnswer, response: ServerResponse): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const shown = typeof body === 'string' ? withoutSecrets(body) : body;
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(shown) }).end(shown);
    return;
  }
  response.writeHead(status, headers);
  await pipeline(Readable.from(body), response);
}

function parseRequest(message: IncomingMessage, disconnected: AbortSignal): HttpRequest | undefined {
  const target = parseTarget(message.url ?? '/');
  if (!target) return undefined;
  return {
    ...target,
    method: message.method ?? 'GET',
    query: new URLSearchParams(target.rawQuery ?? ''),
    headers: message.headers,
    disconnected,
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
