export type { ApiClient, ApiRequest, ApiResponse } from './api-client.ts';
export { ApiError, type ApiErrorCode, type ApiErrorDetail } from './api-error.ts';
export type { ClientLog } from './client-log.ts';
export {
  type ApiClientOptions,
  type ClientConnection,
  type ConfiguredApiClient,
  createApiClient,
} from './create-api-client.ts';
export { RateLimiter } from './rate-limiter.ts';
export { userAgent } from './request-headers.ts';
export type { Observation, Observe } from './request-observation.ts';
export { decodeStatus, type Status } from './status/status.ts';
export { bodyExcerpt, discard, errorOfStatus, statusError } from './status/status-error.ts';
export type { ConnectionTimes } from './transport/connection.ts';
