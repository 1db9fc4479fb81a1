import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorText } from '../../lib/error-text.ts';
import type { ApiResponse } from '../api-client.ts';
import { ApiError, aborted, asError } from '../api-error.ts';
import type { Connection, WireRequest } from './connection.ts';
import { openBody, plainHeaders } from './response.ts';

export interface Http1Options {
  /** A new socket, with TLS done. */
  readonly dial: () => Promise<Socket>;
  /** One that is there already. */
  readonly first?: Socket | undefined;
  readonly host: string;
  readonly address: string;
  /** Before every path: the origin of the server where a proxy reads requests. */
  readonly prefix?: string | undefined;
  /** With every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sockets that are dialled by us and kept for the next request. */
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
    const failed = callback as ((error: Error) => void) | undefined;
    this.#dial().then(
      socket => callback?.(null, socket),
      (error: unknown) => failed?.(asError(error)),
    );
    return undefined;
  }

  /** Sockets in use stay until they are free. */
  retire(): void {
    this.maxFreeSockets = 0;
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    this.#first?.destroy();
  }
}

/** For servers, or what stands before them, that do not speak HTTP/2. */
export class Http1Connection implements Connection {
  readonly #options: Http1Options;
  readonly #agent: DialAgent;
  usable = true;

  constructor(options: Http1Options) {
    this.#options = options;
    this.#agent = new DialAgent(options);
  }

  get ended(): boolean {
    return !this.usable && Object.keys(this.#agent.sockets).length === 0;
  }

  request({ method, path, headers, body, signal }: WireRequest): Promise<ApiResponse> {
    const { address, host, prefix = '', headers: always } = this.#options;
    if (signal?.aborted) return Promise.reject(aborted(address));
    return new Promise((resolve, reject) => {
      const sent = request({
        agent: this.#agent,
        method,
        path: prefix + path,
        headers: { ...headers, ...always, host, ...(body && { 'content-length': body.length }) },
      });
      const abort = () => {
        reject(aborted(address));
        sent.destroy();
      };
      signal?.addEventListener('abort', abort, { once: true });
      sent.once('error', error => {
        signal?.removeEventListener('abort', abort);
        reject(error instanceof ApiError ? error : this.#closed(error));
      });
      sent.once('response', response => {
        signal?.removeEventListener('abort', abort);
        resolve(this.#answer(sent, response, signal));
      });
      sent.end(body);
    });
  }

  retire(): void {
    this.usable = false;
    this.#agent.retire();
  }

  close(): void {
    this.retire();
    this.#agent.destroy();
  }

  #answer(sent: ClientRequest, response: IncomingMessage, signal: AbortSignal | undefined): ApiResponse {
    // What fails once the answer has begun comes out of its body.
    sent.on('error', () => {});
    const headers = plainHeaders(response.headers);
    const broken = (error?: Error) => this.#closed(error);
    const cancel = () => response.destroy();
    return { status: response.statusCode ?? 0, headers, body: openBody(response, headers, { broken, cancel, signal }) };
  }

  #closed(error: unknown): ApiError {
    const { address } = this.#options;
    const why = error === undefined ? '' : `: ${errorText(error)}`;
    const text = `the connection to the API server ${address} was closed before the answer was complete${why}`;
    return new ApiError('closed', text, { address, cause: error });
  }
}
