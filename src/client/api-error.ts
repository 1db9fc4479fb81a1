/**
 * What can go wrong between the client and an API server. The code is stable. The message says what to do.
 *
 * configuration  the kubeconfig, the environment or a flag cannot be used
 * credentials    a token, a certificate or a credential plugin gives no credential
 * unreachable    no connection: unknown name, refused, no route, or an HTTP proxy refuses
 * tls            there is a connection, but TLS failed
 * timeout        no connection in time, or the server no longer answers on the connection
 * closed         the connection, or this one answer, broke off
 * aborted        the caller aborted the request
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
  /** The HTTP status, if the code is `status`. */
  readonly status?: number | undefined;
  /** The reason that the server gives, if the code is `status`: `Forbidden`, `Expired`. */
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

export function abortedError(address?: string): ApiError {
  return new ApiError('aborted', 'the caller aborted the request', { address });
}
