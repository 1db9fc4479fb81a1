export type { ApiClient, ApiRequest, ApiResponse } from './api-client.ts';
export { ApiError, type ApiErrorCode, type ApiErrorDetail } from './api-error.ts';
export type { ClientLog } from './client-log.ts';
export type { ConnectionTimes } from './connection.ts';
export {
  type ApiClientOptions,
  type ClientConnection,
  type ConfiguredApiClient,
  createApiClient,
} from './create-api-client.ts';
export type { Observation, Observe } from './observation.ts';
export { RateLimiter } from './rate-limiter.ts';
export { decodeStatus, type Status } from './status.ts';
export { bodyExcerpt, discard, errorOfStatus, statusError } from './status-error.ts';
export { userAgent } from './user-agent.ts';
