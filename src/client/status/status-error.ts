import type { ApiResponse } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import { plainText, readBounded } from './response-body.ts';
import { decodeStatus, type Status } from './status.ts';

/** The error that an answer reports, in the server's own words. Reads the body. Never rejects. */
export async function errorFromResponse(response: ApiResponse): Promise<ApiError> {
  const bytes = await readBounded(response);
  const status = decodeStatus(bytes);
  const retryAfter = /^\d+$/.exec(response.headers['retry-after'] ?? '');
  return new ApiError('status', message(response, status, bytes), {
    status: response.status,
    reason: status?.reason || undefined,
    retryAfterSeconds: retryAfter ? Number(retryAfter[0]) : status?.retryAfterSeconds,
  });
}

/** The error of a `Status` that is the object of an ERROR event of a watch. */
export function errorFromStatus({ message, reason, code, retryAfterSeconds }: Status): ApiError {
  return new ApiError('status', message || reason || `status ${code}`, { status: code, reason, retryAfterSeconds });
}

function message(response: ApiResponse, status: Status | undefined, bytes: Uint8Array): string {
  const text = status ? status.message || status.reason : plainText(bytes);
  if (response.status === 401) {
    return `the API server does not accept the credentials (401 ${text || 'Unauthorized'}): renew the token or certificate`;
  }
  // The message of a Status says everything. Another answer may come from an HTTP proxy, and may be empty.
  return status && text !== '' ? text : `the server answered with status ${response.status}${text && `: ${text}`}`;
}
