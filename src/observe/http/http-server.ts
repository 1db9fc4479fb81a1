import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as Listener } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../lib/error-text.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from './answer.ts';
import { BAD_REQUEST, textAnswer } from './answer.ts';
import { type Listen, type ListenAddress, listenHere } from './listen.ts';
import { parseTarget } from './request-target.ts';

/** Callers are probes and scrapers: whoever needs more than this is none of them. */
const LIMITS = { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 };
const MOST_CONNECTIONS = 1000;

export interface HttpServerOptions extends ListenAddress {
  readonly handle: HttpHandler;
  readonly listen?: Listen | undefined;
  /** The listener broke after it had been opened; the server is closed. */
  readonly failed?: ((error: Error) => void) | undefined;
}

/** A plain HTTP server on one address. */
export class HttpServer {
  readonly #http: Server;
  readonly #listener: Listener;

  private constructor(http: Server, listener: Listener) {
    this.#http = http;
    this.#listener = listener;
  }

  /** Rejects if the address cannot be listened on. */
  static async open({ handle, listen = listenHere, failed, ...address }: HttpServerOptions): Promise<HttpServer> {
    const http = createServer(LIMITS, (request, response) => void answer(handle, request, response));
    const listener = await listen(address, connection => http.emit('connection', connection));
    listener.maxConnections = MOST_CONNECTIONS;
    // The HTTP server does not listen itself; told that it does, it watches over its connections' time and closes them.
    http.emit('listening');
    const server = new HttpServer(http, listener);
    listener.on('error', error => {
      server.close();
      failed?.(error);
    });
    return server;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** At once: the port is free and connections are cut when this returns. */
  close(): void {
    this.#listener.close();
    this.#http.close();
    this.#http.closeAllConnections();
  }
}

async function answer(handle: HttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const asked = requestOf(request, gone.signal);
    await write(asked ? await outcome(handle, asked) : BAD_REQUEST, response);
  } catch {
    // The caller went away, or a body could not be read to its end: there is no way left to say so.
    response.destroy();
  }
}

async function outcome(handle: HttpHandler, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await handle(request);
  } catch (error) {
    return textAnswer(500, `${errorText(error)}\n`);
  }
}

async function write({ status, headers, body }: HttpAnswer, response: ServerResponse): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
    return;
  }
  response.writeHead(status, headers);
  await pipeline(Readable.from(body), response);
}

function requestOf(message: IncomingMessage, gone: AbortSignal): HttpRequest | undefined {
  const target = parseTarget(message.url ?? '/');
  if (!target) return undefined;
  return {
    ...target,
    method: message.method ?? 'GET',
    query: new URLSearchParams(target.rawQuery ?? ''),
    headers: message.headers,
    gone,
    text: limit => readText(message, limit),
  };
}

async function readText(message: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Destroyed, it would take the connection with it, and the caller would never hear why.
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
