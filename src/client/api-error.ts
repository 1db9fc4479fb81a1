/**
 * What can go wrong between us and an API server. The code is stable; the message says what to do.
 *
 * configuration  kubeconfig, environment or flags cannot be used
 * credentials    a token, a certificate or a credential plugin could not be had
 * unreachable    no connection: no such name, refused, no route, a proxy that does not let us through
 * tls            a connection, but its TLS is not as it must be
 * timeout        no connection in time, or a connection on which nobody answers any more
 * closed         the connection, or this one answer, broke off
 * aborted        the caller ended the request
 * status         the server answered with an error; `status` and `reason` say which
 */
export type ApiErrorCode =
  | 'configuration'
  | 'credentials'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'aborted'
  | 'status';

export interface ApiErrorDetail {
  /** Host and port of the server. */
  readonly address?: string | undefined;
  /** Of code `status`: the HTTP status. */
  readonly status?: number | undefined;
  /** Of code `status`: the server's word, `Forbidden`, `Expired`. */
  readonly reason?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly address: string | undefined;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ApiErrorCode, message: string, detail: ApiErrorDetail = {}) {
    super(message, detail.cause === undefined ? {} : { cause: detail.cause });
    this.code = code;
    this.address = detail.address;
    this.status = detail.status;
    this.reason = detail.reason;
    this.retryAfterSeconds = detail.retryAfterSeconds;
  }
}

/** The errno of a system error, or Node's name for another. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export function aborted(address?: string): ApiError {
  return new ApiError('aborted', 'the request was ended by its caller', { address });
}

/** For what a promise or an event handed over, which may be anything. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
