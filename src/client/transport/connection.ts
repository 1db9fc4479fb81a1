import { errorText } from '../../lib/error-text.ts';
import type { ApiResponse } from '../api-client.ts';
import { ApiError } from '../api-error.ts';

/** A request with all its headers. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One HTTP/2 session, or a pool of HTTP/1.1 sockets. */
export interface Connection {
  /** It accepts new requests. */
  readonly isUsable: boolean;
  /** No request is in progress, and no new one is accepted. */
  readonly hasEnded: boolean;
  request(request: WireRequest): Promise<ApiResponse>;
  /** Accepts no new requests. Requests in progress continue to their end. */
  retire(): void;
  /** Ends everything. Requests in progress fail. */
  close(): void;
}

/** The server has certainly not started to process the request. Any request can be sent again after this error. */
export class UnprocessedError extends ApiError {}

/** The error of a connection that ended before the answer was complete. */
export function closedError(address: string, cause: unknown): ApiError {
  const reason = cause === undefined ? '' : `: ${errorText(cause)}`;
  const text = `the connection to the API server ${address} was closed before the answer was complete${reason}`;
  return new ApiError('closed', text, { address, cause });
}
