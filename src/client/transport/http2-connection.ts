import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { ApiResponse } from '../api-client.ts';
import { ApiError, abortedError } from '../api-error.ts';
import { type Connection, closedError, UnprocessedError, type WireRequest } from './connection.ts';
import { watchHealth } from './http2-health.ts';
import { decodedBody, plainHeaders } from './response.ts';
import type { ConnectionTimeouts } from './timeouts.ts';

/** With the default of 64 KiB, a large list would come at only 64 KiB per round trip. */
const STREAM_WINDOW = 4 << 20;
const SESSION_WINDOW = 16 << 20;
const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = http2.constants;

export interface Http2Options {
  /** Connected, with TLS complete. */
  readonly socket: Socket;
  readonly origin: string;
  readonly address: string;
  readonly timeouts: ConnectionTimeouts;
  readonly clock: Clock;
}

/** One HTTP/2 session. All requests share it. */
export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #address: string;
  #isRetired = false;
  /** Why the session ended, if that is known better than from the errors of its streams. */
  #endReason: ApiError | undefined;

  constructor({ socket, origin, address, timeouts, clock }: Http2Options) {
    this.#address = address;
    this.#socket = socket;
    const settings = { enablePush: false, initialWindowSize: STREAM_WINDOW };
    const session = http2.connect(origin, { createConnection: () => socket, settings });
    this.#session = session;
    const seconds = (timeouts.readIdleMs + timeouts.pingMs) / 1000;
    const text = `the API server ${address} has not answered for ${seconds} s: the connection is given up`;
    const onDead = () => this.#end(new ApiError('timeout', text, { address }));
    const health = watchHealth({ session, bytesRead: () => socket.bytesRead, timeouts, clock, onDead });
    // The client may have been closed between the TLS handshake and this event.
    session.once('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW);
    });
    // The server will restart, or it wants to spread its clients over its replicas.
    session.on('goaway', () => this.retire());
    session.on('error', error => {
      this.#endReason ??= closedError(address, error);
    });
    session.once('close', health.stop);
    // A session that has ended only ends its side. A server that never closes the other side would keep the socket open.
    socket.once('finish', () => socket.destroy());
  }

  get isUsable(): boolean {
    return !this.#isRetired && !this.#session.closed && !this.#session.destroyed;
  }

  get hasEnded(): boolean {
    return this.#session.destroyed;
  }

  request({ method, path, headers, body, signal }: WireRequest): Promise<ApiResponse> {
    if (signal?.aborted) return Promise.reject(abortedError(this.#address));
    let stream: ClientHttp2Stream;
    try {
      const head = { ':method': method, ':path': path, ...mutable(headers) };
      // Keeps the token out of HPACK's shared table, where an attacker could guess it from compressed lengths.
      const sensitive = { [http2.sensitiveHeaders]: ['authorization'] };
      stream = this.#session.request({ ...head, ...sensitive }, { endStream: body === undefined });
    } catch (error) {
      const { message, address } = closedError(this.#address, error);
      return Promise.reject(new UnprocessedError('closed', message, { address, cause: error }));
    }
    if (body) stream.end(body);
    return this.#apiResponse(stream, signal);
  }

  retire(): void {
    this.#isRetired = true;
    if (!this.#session.destroyed) this.#session.close();
  }

  close(): void {
    this.#end(new ApiError('closed', 'the client was closed', { address: this.#address }));
  }

  #end(reason: ApiError): void {
    this.#endReason ??= reason;
    this.#session.destroy();
    this.#socket.destroy();
  }

  #apiResponse(stream: ClientHttp2Stream, signal: AbortSignal | undefined): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        stream.close(NGHTTP2_CANCEL);
        stream.destroy();
      };
      const abort = () => {
        reject(abortedError(this.#address));
        cancel();
      };
      const fail = (error?: Error) => {
        signal?.removeEventListener('abort', abort);
        reject(this.#streamError(stream, error));
      };
      signal?.addEventListener('abort', abort, { once: true });
      stream.on('error', fail);
      stream.once('close', fail);
      stream.once('response', (headers: IncomingHttpHeaders & { ':status'?: number }) => {
        signal?.removeEventListener('abort', abort);
        const { ':status': status = 0, ...rest } = headers;
        const toError = (cause?: Error) => this.#streamError(stream, cause);
        const plain = plainHeaders(rest);
        resolve({ status, headers: plain, body: decodedBody(stream, plain, { toError, cancel, signal }) });
      });
    });
  }

  #streamError(stream: ClientHttp2Stream, cause: Error | undefined): ApiError {
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM) {
      const text = `the API server ${this.#address} refused the request before it processed any part of it`;
      return new UnprocessedError('closed', text, { address: this.#address, cause });
    }
    return this.#endReason ?? closedError(this.#address, cause);
  }
}

function mutable(headers: WireRequest['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
