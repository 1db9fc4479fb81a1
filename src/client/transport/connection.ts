import type { ApiResponse } from '../api-client.ts';
import { ApiError } from '../api-error.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What requests go through: an HTTP/2 session, or a pool of HTTP/1.1 sockets. */
export interface Connection {
  /** Whether it takes new requests. */
  readonly usable: boolean;
  /** Whether nothing is under way any more, and nothing will be. */
  readonly ended: boolean;
  request(request: WireRequest): Promise<ApiResponse>;
  /** No new requests; those that are under way go on to their end. */
  retire(): void;
  /** Ends everything; what is under way fails. */
  close(): void;
}

/** How long is waited for what. */
export interface ConnectionTimes {
  /** For a connection, its proxy and its TLS. */
  readonly connectMs: number;
  /** Without any read for so long, an HTTP/2 session is asked whether it lives; 0 asks never. */
  readonly readIdleMs: number;
  /** For the answer to that. */
  readonly pingMs: number;
}

/** The server has certainly not begun with the request: it can be sent again, whatever it was. */
export class UnprocessedError extends ApiError {}
