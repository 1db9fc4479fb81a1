import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTarget } from './request-target.ts';

export interface HttpRequest extends RequestTarget {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The caller's address, or the network of its IPv6 address. Empty at a Unix socket. */
  readonly peer: string;
  /** Aborted if the caller ends its side of the connection, and when it has the whole answer. */
  readonly disconnected: AbortSignal;
  /** Reads the body. Undefined if it is longer than `limit` bytes. */
  text(limit: number): Promise<string | undefined>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | HttpStream;
}

/**
 * The parts of an answer that is made while the caller reads it. The server asks for the next part when the caller has
 * taken the one before, and ends the iteration when the caller is gone. An iterable that waits for something must end
 * when `HttpRequest.disconnected` is aborted. A secret must not extend over two parts.
 */
export type HttpStream = AsyncIterable<string | Uint8Array>;

export type HttpHandler = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

const NO_SNIFF = { 'X-Content-Type-Options': 'nosniff' } as const;

export function textAnswer(status: number, body: string): HttpAnswer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...NO_SNIFF }, body };
}

/** The content type has no charset, because load balancers compare it as text. */
export function jsonAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, headers: { 'Content-Type': 'application/json', ...NO_SNIFF, ...headers }, body };
}

export const NOT_FOUND: HttpAnswer = textAnswer(404, '404 page not found\n');

export const BAD_REQUEST: HttpAnswer = {
  status: 400,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' },
  body: '400 Bad Request',
};
