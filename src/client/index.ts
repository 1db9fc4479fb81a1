export type { ApiClient, ApiRequest, ApiResponse } from './api-client.ts';
export { ApiError, type ApiErrorCode } from './api-error.ts';
export { type ApiClientOptions, type ConfiguredApiClient, createApiClient } from './create-api-client.ts';
export type { RequestObservation } from './request-observation.ts';
export { bodyExcerpt } from './status/response-body.ts';
export { decodeStatus } from './status/status.ts';
export { errorFromResponse, errorFromStatus } from './status/status-error.ts';
