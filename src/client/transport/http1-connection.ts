import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ApiResponse } from '../api-client.ts';
import { ApiError, abortedError } from '../api-error.ts';
import { type Connection, closedError, type WireRequest } from './connection.ts';
import { decodedBody, plainHeaders } from './response.ts';

export interface Http1Options {
  /** Opens a new socket, and completes TLS on it. */
  readonly dial: () => Promise<Socket>;
  /** A socket that is open already. The first request uses it. */
  readonly first?: Socket | undefined;
  readonly host: string;
  readonly address: string;
  /** Stands before every path. An HTTP proxy for plain HTTP needs the origin of the server there. */
  readonly prefix?: string | undefined;
  /** Added to every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Opens sockets with `dial`, and keeps them for later requests. */
class DialAgent extends Agent {
  readonly #dial: () => Promise<Socket>;
  #first: Socket | undefined;

  constructor({ dial, first }: Http1Options) {
    super({ keepAlive: true });
    this.#dial = dial;
    this.#first = first;
  }

  override createConnection(
    _options: unknown,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): Duplex | undefined {
    const first = this.#first;
    this.#first = undefined;
    if (first && !first.destroyed) return first;
    const fail = callback as ((error: Error) => void) | undefined;
    this.#dial().then(
      socket => callback?.(null, socket),
      (error: unknown) => fail?.(error instanceof Error ? error : new Error(String(error))),
    );
    return undefined;
  }

  /** A socket in use stays open until its request is done. */
  retire(): void {
    this.maxFreeSockets = 0;
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    this.#first?.destroy();
  }
}

/** A connection to a server, or to an HTTP proxy in front of it, that does not speak HTTP/2. */
export class Http1Connection implements Connection {
  readonly #options: Http1Options;
  readonly #agent: DialAgent;
  isUsable = true;

  constructor(options: Http1Options) {
    this.#options = options;
    this.#agent = new DialAgent(options);
  }

  get hasEnded(): boolean {
    return !this.isUsable && Object.keys(this.#agent.sockets).length === 0;
  }

  request({ method, path, headers, body, signal }: WireRequest): Promise<ApiResponse> {
    const { address, host, prefix = '', headers: fixedHeaders } = this.#options;
    if (signal?.aborted) return Promise.reject(abortedError(address));
    return new Promise((resolve, reject) => {
      const sent = request({
        agent: this.#agent,
        method,
        path: prefix + path,
        headers: { ...headers, ...fixedHeaders, host, ...(body && { 'content-length': body.length }) },
      });
      const abort = () => {
        reject(abortedError(address));
        sent.destroy();
      };
      signal?.addEventListener('abort', abort, { once: true });
      sent.once('error', error => {
        signal?.removeEventListener('abort', abort);
        reject(error instanceof ApiError ? error : closedError(address, error));
      });
      sent.once('response', response => {
        signal?.removeEventListener('abort', abort);
        resolve(this.#apiResponse(sent, response, signal));
      });
      sent.end(body);
    });
  }

  retire(): void {
    this.isUsable = false;
    this.#agent.retire();
  }

  close(): void {
    this.retire();
    this.#agent.destroy();
  }

  #apiResponse(sent: ClientRequest, response: IncomingMessage, signal: AbortSignal | undefined): ApiResponse {
    // From here on the body reports errors. Without a listener the same error here would end the process.
    sent.on('error', () => {});
    const headers = plainHeaders(response.headers);
    const toError = (cause?: Error) => closedError(this.#options.address, cause);
    const cancel = () => response.destroy();
    const body = decodedBody(response, headers, { toError, cancel, signal });
    return { status: response.statusCode ?? 0, headers, body };
  }
}
