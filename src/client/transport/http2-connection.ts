import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import type { ApiResponse } from '../api-client.ts';
import { ApiError, aborted } from '../api-error.ts';
import { type Connection, type ConnectionTimes, UnprocessedError, type WireRequest } from './connection.ts';
import { watchHealth } from './http2-health.ts';
import { openBody, plainHeaders } from './response.ts';

/** The default of 64 KiB lets a large list through at 64 KiB a round trip. */
const STREAM_WINDOW = 4 << 20;
const SESSION_WINDOW = 16 << 20;
const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = http2.constants;

export interface Http2Options {
  /** Connected, with TLS done. */
  readonly socket: Socket;
  readonly origin: string;
  readonly address: string;
  readonly times: ConnectionTimes;
  readonly clock: Clock;
}

/** One HTTP/2 session, on which all requests run side by side. */
export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #address: string;
  #retired = false;
  /** Why the session ended, where we know better than its streams. */
  #reason: ApiError | undefined;

  constructor({ socket, origin, address, times, clock }: Http2Options) {
    this.#address = address;
    this.#socket = socket;
    const settings = { enablePush: false, initialWindowSize: STREAM_WINDOW };
    const session = http2.connect(origin, { createConnection: () => socket, settings });
    this.#session = session;
    const seconds = (times.readIdleMs + times.pingMs) / 1000;
    const silent = `the API server ${address} has not answered for ${seconds} s: the connection is given up`;
    const onDead = () => this.#end(new ApiError('timeout', silent, { address }));
    const health = watchHealth({ session, bytesRead: () => socket.bytesRead, times, clock, onDead });
    session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW));
    // The server wants no more requests here, for it is to be restarted or wants its clients spread anew.
    session.on('goaway', () => this.retire());
    session.on('error', error => {
      this.#reason ??= this.#closed(error);
    });
    session.once('close', health.stop);
  }

  get usable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  get ended(): boolean {
    return this.#session.destroyed;
  }

  request({ method, path, headers, body, signal }: WireRequest): Promise<ApiResponse> {
    if (signal?.aborted) return Promise.reject(aborted(this.#address));
    let stream: ClientHttp2Stream;
    try {
      const head = { ':method': method, ':path': path, ...mutable(headers) };
      // Left out of the table that both sides keep of headers, where a length could betray it.
      const sensitive = { [http2.sensitiveHeaders]: ['authorization'] };
      stream = this.#session.request({ ...head, ...sensitive }, { endStream: body === undefined });
    } catch (error) {
      const { message, address } = this.#closed(error);
      return Promise.reject(new UnprocessedError('closed', message, { address, cause: error }));
    }
    if (body) stream.end(body);
    return this.#answer(stream, signal);
  }

  retire(): void {
    this.#retired = true;
    if (!this.#session.destroyed) this.#session.close();
  }

  close(): void {
    this.#end(new ApiError('closed', 'the client was closed', { address: this.#address }));
  }

  #end(reason: ApiError): void {
    this.#reason ??= reason;
    this.#session.destroy();
    // A session that was closed before leaves its socket open until the peer closes it too.
    this.#socket.destroy();
  }

  #answer(stream: ClientHttp2Stream, signal: AbortSignal | undefined): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        stream.close(NGHTTP2_CANCEL);
        stream.destroy();
      };
      const abort = () => {
        reject(aborted(this.#address));
        cancel();
      };
      const fail = (error?: Error) => {
        signal?.removeEventListener('abort', abort);
        reject(this.#failure(stream, error));
      };
      signal?.addEventListener('abort', abort, { once: true });
      stream.on('error', fail);
      stream.once('close', fail);
      stream.once('response', (headers: IncomingHttpHeaders & { ':status'?: number }) => {
        signal?.removeEventListener('abort', abort);
        const { ':status': status = 0, ...rest } = headers;
        const broken = (error?: Error) => this.#failure(stream, error);
        const plain = plainHeaders(rest);
        resolve({ status, headers: plain, body: openBody(stream, plain, { broken, cancel, signal }) });
      });
    });
  }

  #failure(stream: ClientHttp2Stream, error: Error | undefined): ApiError {
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM) {
      const text = `the API server ${this.#address} refused the request before it began with it`;
      return new UnprocessedError('closed', text, { address: this.#address, cause: error });
    }
    return this.#reason ?? this.#closed(error);
  }

  #closed(error: unknown): ApiError {
    const why = error === undefined ? '' : `: ${errorText(error)}`;
    const text = `the connection to the API server ${this.#address} was closed before the answer was complete${why}`;
    return new ApiError('closed', text, { address: this.#address, cause: error });
  }
}

function mutable(headers: WireRequest['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
