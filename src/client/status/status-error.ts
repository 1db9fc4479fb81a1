import type { ApiResponse } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import { decodeStatus, type Status } from './status.ts';

const MOST_BYTES = 256 << 10;
const MOST_TEXT = 500;

/** The error that an answer stands for, in the server's own words. Reads the body; never rejects. */
export async function statusError(response: ApiResponse): Promise<ApiError> {
  const bytes = await readSome(response);
  const status = decodeStatus(bytes);
  const retryAfter = /^\d+$/.exec(response.headers['retry-after'] ?? '');
  return new ApiError('status', message(response, status, bytes), {
    status: response.status,
    reason: status?.reason || undefined,
    retryAfterSeconds: retryAfter ? Number(retryAfter[0]) : status?.retryAfterSeconds,
  });
}

/** For a `Status` that came otherwise, as the object of an ERROR event of a watch. */
export function errorOfStatus({ message, reason, code, retryAfterSeconds }: Status): ApiError {
  return new ApiError('status', message || reason || `status ${code}`, { status: code, reason, retryAfterSeconds });
}

/** The beginning of a body in one line, for those who look what answered. Reads no more than the first piece. */
export async function bodyExcerpt({ body }: ApiResponse, mostCharacters: number): Promise<string> {
  for await (const chunk of body) {
    const text = plainText(chunk).replaceAll(/\s+/g, ' ');
    return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
  }
  return '';
}

/** Ends a body that nobody wants to read, so that nothing stays open for it. */
export async function discard(response: ApiResponse): Promise<void> {
  await response.body[Symbol.asyncIterator]().return?.();
}

function message(response: ApiResponse, status: Status | undefined, bytes: Uint8Array): string {
  const words = status ? status.message || status.reason : plainText(bytes);
  if (response.status === 401) {
    return `the API server does not accept the credentials (401 ${words || 'Unauthorized'}): renew the token or certificate`;
  }
  // An error of the API says all in its message; what stands before a server may say nothing.
  return status && words !== '' ? words : `the server answered with status ${response.status}${words && `: ${words}`}`;
}

function plainText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return text.slice(0, MOST_TEXT);
}

/** What came before the body was long enough, or broke off: better than nothing. */
async function readSome({ body }: ApiResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_BYTES) break;
    }
  } catch {
    // The status itself is known.
  }
  return Buffer.concat(chunks);
}
